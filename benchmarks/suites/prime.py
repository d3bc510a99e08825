"""prime-rl's own schema, of a checkout, as the judge of what we refuse in its files.

It is on no package index. The checkout's `.venv` needs the dependencies of packages/prime-rl-configs.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.field.doctor import _dispatched
from benchmarks.suites.cases import Case
from benchmarks.suites.foreign import ROOT

LIMIT_S = 300
PROGRAMS = {
    "rl": "rl", "sft": "sft", "infer": "inference", "inference": "inference", "orch": "orchestrator",
    "orchestrator": "orchestrator", "train": "trainer", "trainer": "trainer", "evals": "evals", "eval": "evals",
}  # fmt: skip
_KEY = re.compile(r"^([a-z_]+)( *= *)", re.MULTILINE)


def files(checkout: Path) -> Iterator[Case]:
    """Each official file; and each with one key misspelled. Ours: whether a finding names a key."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [*_written(checkout, Path(folder))]
        answers = _answers(checkout, paths)
        for path, answer in zip(paths, answers, strict=True):
            if answer["broken"] or not answer["program"]:
                continue
            ours = _names_a_key(path, Path(folder))
            refused = answer["refused"]
            yield Case(f"{path.name}: {refused}", ours, bool(refused), _difference(refused))


def _difference(refused: Mapping[str, str]) -> str:
    if refused and all(".taskset." in key for key in refused):
        return "docs/suites.md: The keys of a taskset are those of its environment, and are not judged"
    if refused and not any("Extra inputs" in message for message in refused.values()):
        return "docs/suites.md: A rule in the code of the package is not judged"
    return ""


def _names_a_key(path: Path, root: Path) -> bool:
    """Whether a finding is about a key: an ERROR, or a WARNING where a newer version may have it."""
    _, out, _ = _dispatched(["preflight", str(path), "--structure-only", "--format", "json"], root)
    checks = json.loads(out)["outcomes"]
    return any(check["findings"] for check in checks if check["id"].startswith(("CFG004", "PRM")))


def _written(checkout: Path, folder: Path) -> Iterator[Path]:
    for source in sorted([*checkout.glob("configs/**/*.toml"), *checkout.glob("examples/**/*.toml")]):
        name = str(source.relative_to(checkout)).replace("/", "__")
        if not program_of(Path(name)) or "debug" in source.parts:  # those of other programs
            continue
        text = source.read_text(encoding="utf-8")
        yield _write(folder / name, text)
        keys = [*_KEY.finditer(text)]
        for number, key in enumerate(keys[:: max(1, len(keys) // 4)]):
            at = key.end(1)
            yield _write(folder / f"{number}-{name}", f"{text[:at]}_x{text[at:]}")


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def _answers(checkout: Path, paths: Sequence[Path]) -> list[dict[str, Any]]:
    """The schema's answer to each file. A file that names an environment without its package gets none."""
    own = checkout / ".venv/bin/python"
    python = str(own) if own.exists() else sys.executable
    lines = "".join(
        json.dumps({"root": str(checkout), "file": str(path), "program": program_of(path)}) + "\n" for path in paths
    )
    words = [python, str(ROOT / "benchmarks/field/children/prime.py")]
    done = subprocess.run(words, input=lines, capture_output=True, text=True, timeout=LIMIT_S, check=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def program_of(path: Path) -> str:
    """The program of a file, by its name, or nothing."""
    return next(
        (program for word, program in PROGRAMS.items() if word in path.name.partition(".toml")[0].split("__")), ""
    )
