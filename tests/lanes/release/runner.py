"""Runs a job of a workflow as a runner of GitHub does: each `uses` of a composite action, step by step."""

import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

EXPRESSION = re.compile(r"\$\{\{\s*inputs\.([\w-]+)\s*\}\}")
ANNOTATION = re.compile(r"^::(error|warning|notice) (.*?)::(.*)$", re.MULTILINE)
LIMIT_S = 600.0


@dataclass(frozen=True)
class Ended:
    """How a step ended, its output, and the annotations that a pull request would show."""

    name: str
    code: int
    output: str

    @property
    def annotations(self) -> list[tuple[str, str]]:
        """The kind and the place of each."""
        return [(found[1], found[2]) for found in ANNOTATION.finditer(self.output)]


def run_job(job: Mapping[str, Any], fetched: Callable[[str], Path], workspace: Path, temp: Path) -> list[Ended]:
    """The steps that ran, up to the first that failed. `fetched` gives the folder of an action by its `uses`."""
    ended: list[Ended] = []
    for step in job["steps"]:
        if step["uses"].startswith("actions/checkout@"):  # the workspace is one already
            continue
        for one in _composite(fetched(step["uses"]), step.get("with", {}), workspace, temp):
            ended.append(one)
            if one.code:
                return ended
    return ended


def _composite(folder: Path, given: Mapping[str, Any], workspace: Path, temp: Path) -> Iterator[Ended]:
    action = yaml.safe_load((folder / "action.yml").read_text(encoding="utf-8"))
    assert action["runs"]["using"] == "composite"
    inputs = {name: str(given.get(name, one.get("default", ""))) for name, one in action["inputs"].items()}
    assert set(given) <= set(inputs), f"unknown inputs: {set(given) - set(inputs)}"
    assert [name for name, one in action["inputs"].items() if one.get("required") and name not in given] == []
    for number, step in enumerate(action["runs"]["steps"]):
        script = temp / f"step-{number}.sh"
        script.write_text(_filled(step["run"], inputs), encoding="utf-8")
        assert step["shell"] == "bash"
        env = {
            **{name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ},
            **{
                name: value for name, value in os.environ.items() if name.startswith("PIP_") or "_proxy" in name.lower()
            },
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(folder),
            "GITHUB_WORKSPACE": str(workspace),
            "RUNNER_TEMP": str(temp),
            **{name: _filled(str(value), inputs) for name, value in step.get("env", {}).items()},
        }
        argv = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)]
        ended = subprocess.run(
            argv, cwd=workspace, env=env, capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
        yield Ended(step["name"], ended.returncode, ended.stdout + ended.stderr)


def _filled(text: str, inputs: Mapping[str, str]) -> str:
    filled = EXPRESSION.sub(lambda found: inputs[found[1]], text)
    assert "${{" not in filled, filled
    return filled
