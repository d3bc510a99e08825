"""The tutorials: the commands of the first are run as they stand, those of the second exist with their options."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from skyrl_doctor.cli.app import SKYRL_DOCTOR
from skyrl_train.cli.app import SKYRL_TRAIN
from skyrl_train.contracts.command_line import parser
from skyrl_train.demo.rows import TASKS, r2e_row

ROOT = Path(__file__).parent.parent
LAPTOP, CLUSTER = ROOT / "docs/tutorial.md", ROOT / "docs/tutorial-cluster.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SECONDS = re.compile(r"in \d+\.\d\ds")
MARK = "\x1e"
PROGRAMS = {"skyrl-doctor": SKYRL_DOCTOR, "skyrl-train": SKYRL_TRAIN}


def steps(page: str) -> Iterator[tuple[str, str]]:
    """Each command of the console blocks, and the output that the page shows."""
    for kind, block in BLOCK.findall(page):
        if kind == "console":
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, expected = part.partition("\n")
                yield command, expected


def matches(expected: str, output: str) -> bool:
    """Whether the output is what the page shows; `…` stands for any text."""
    wanted = "".join(f"{line}\n" for line in SECONDS.sub("in …s", expected).rstrip().splitlines())
    pattern = re.escape(wanted).replace("…\\\n", "(?:.*\\n)?").replace("…", ".*?")
    return (
        re.fullmatch(pattern, SECONDS.sub("in 0s", output).rstrip() + "\n" if output.strip() else "", re.DOTALL)
        is not None
    )


def run(commands: list[str], directory: Path, *, path: str = "", environ: Mapping[str, str] | None = None) -> list[str]:
    """The output of each command of one shell."""
    lines = [f"{{ {command}\n}} 2>&1; printf '{MARK}'" for command in commands]
    path = path or f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environ = {"HOME": str(directory), "LANG": "C.UTF-8", **(environ or {}), "PATH": path}
    done = subprocess.run(
        ["bash", "-c", "\n".join(lines)],
        cwd=directory,
        env=environ,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    return done.stdout.split(MARK)[:-1]


def test_each_command_of_the_laptop_tutorial_prints_what_the_page_shows(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    told = list(steps(LAPTOP.read_text(encoding="utf-8")))
    outputs = run([command for command, _ in told], tmp_path)
    assert len(outputs) == len(told)
    for (command, expected), output in zip(told, outputs, strict=True):
        assert matches(expected, output), f"$ {command}\n{output}\n--- expected\n{expected}"


def test_the_tasks_of_the_tutorial_can_be_launched() -> None:
    """Each row is one of the demo's tasks with its image, and there are enough for a step of the tutorial's last run.toml."""
    lines = (ROOT / "examples/tutorial/tasks.jsonl").read_text(encoding="utf-8").splitlines()
    images = {r2e_row(task)["docker_image"] for task in TASKS}
    assert {json.loads(line)["extra_info"]["image"] for line in lines} == images
    (size,) = re.findall(r"train_batch_size = (\d+)", LAPTOP.read_text(encoding="utf-8"))
    assert len(lines) == int(size)


@pytest.mark.parametrize(
    ("expected", "output", "same"),
    [
        ("a\n…\nc\n", "a\nb\nb\nc\n", True),
        ("a …\n", "a 5\n", True),
        ("a\n", "b\n", False),
        ("", "error\n", False),
        ("pass in 0.40s\n", "pass in 7.12s\n", True),
    ],
)
def test_the_comparison_compares(expected: str, output: str, same: bool) -> None:
    assert matches(expected, output) is same


@pytest.mark.parametrize("page", [LAPTOP, CLUSTER], ids=["laptop", "cluster"])
def test_each_call_is_one_that_the_parsers_accept(page: Path) -> None:
    calls = [shlex.split(line.removeprefix("$ ").partition(" > ")[0], comments=True) for line in lines_of(page)]
    for words in calls:
        before = words[1 : words.index("--")] if "--" in words else words[1:]
        assert parser(PROGRAMS[words[0]], before[0]).parse_args(before).command == before[0]
    assert len(calls) >= 7


def lines_of(page: Path) -> list[str]:
    """The calls of our commands in the blocks of a page."""
    blocks = "".join(block for _, block in BLOCK.findall(page.read_text(encoding="utf-8")))
    return [line for line in blocks.splitlines() if re.match(r"(?:\$ )?skyrl-(?:doctor|train) (?!\w+:)", line)]
