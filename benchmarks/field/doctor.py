"""What the doctor says of a file."""

import contextlib
import io
import json
import os
import time
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.field.sandbox import ENVIRON
from skyrl_doctor import examination
from skyrl_doctor.cli.app import dispatch
from skyrl_doctor.plan.source import Source
from skyrl_doctor.plan.syntax.shell import read_script

SLOW_S = 10.0
READ_LIMIT_S = 60.0
"""For a machine that does other work too: a sweep asks what the doctor says of a file, not how fast."""


@dataclass(frozen=True)
class Error:
    """One finding of severity error."""

    id: str
    key: str
    line: int | None
    message: str


@dataclass(frozen=True)
class Opinion:
    """The report on one file. `refused` is the reason why the doctor does not judge it."""

    status: int
    dialect: str = ""
    errors: tuple[Error, ...] = ()
    warned: tuple[str, ...] = ()
    """What it says about keys that it does not refuse: its warnings, and why a format has none to check."""
    unchecked: str = ""
    """Why the keys could not be checked, which is no pass."""
    passed: int = 0
    refused: str = ""
    crash: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class OurWord:
    """A word of a command as our shell reader has it."""

    text: str
    unknown: str


def opinion(path: Path, root: Path) -> Opinion:
    """The result of `preflight --structure-only` on one file, in this process."""
    started = time.perf_counter()
    examination.READ_LIMIT_S = READ_LIMIT_S
    status, out, err = _dispatched(["preflight", str(path), "--structure-only", "--format", "json"], root)
    seconds = time.perf_counter() - started
    if status == -1:
        return Opinion(status, crash=err, seconds=seconds)
    try:
        report = json.loads(out)
    except ValueError:
        return Opinion(status, refused=err.strip()[:400] or "no report", seconds=seconds)
    return Opinion(
        status,
        report["target"]["dialect"],
        _findings(report, "error"),
        (*(one.message for one in _findings(report, "warning") if one.id == "CFG004"), *_reasons(report, "skip")),
        next(_reasons(report, "unknown"), ""),
        _passed(report),
        seconds=seconds,
    )


def our_commands(text: str, path: Path, root: Path) -> list[list[OurWord]] | None:
    """Every command of the script as our shell reader has it, or None if it refuses the script."""
    environ = {**ENVIRON, "PWD": str(root)}
    try:
        script = read_script(Source(str(path), text), environ, partial(_text_of, root, path.parent))
    except Exception:  # noqa: BLE001 - then the report says so too
        return None
    return [[OurWord(word.text, word.unknown) for word in command.words] for command in script.commands]


def _text_of(root: Path, folder: Path, name: str) -> Source | None:
    """A file that the script sources, as the doctor finds it from the top of the checkout."""
    found = next((place for place in (root / name, folder / name) if place.is_file()), None)
    if found is None:
        return None
    return Source(str(found), found.read_text(encoding="utf-8", errors="replace"))


def _dispatched(words: list[str], root: Path) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with _environment(root), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            return dispatch(words), out.getvalue(), err.getvalue()
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else 1, out.getvalue(), err.getvalue()
        except Exception:  # noqa: BLE001 - a crash is a row of the table
            return -1, "", traceback.format_exc()[-2000:]


@contextlib.contextmanager
def _environment(root: Path):  # type: ignore[no-untyped-def]
    kept, directory = dict(os.environ), os.getcwd()
    os.environ.clear()
    os.environ.update(ENVIRON, PATH=kept["PATH"])
    os.chdir(root)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(kept)
        os.chdir(directory)


def _findings(report: Mapping[str, object], severity: str) -> tuple[Error, ...]:
    found = []
    for check in report["outcomes"]:  # type: ignore[attr-defined]
        for finding in check["findings"]:
            if finding["severity"] == severity:
                place = finding.get("location") or {}
                found.append(Error(check["id"], place.get("key") or "", place.get("line"), finding["message"]))
    return tuple(found)


def _reasons(report: Mapping[str, object], status: str) -> Iterator[str]:
    """Why the check of the keys has this status; empty if it has another."""
    checks = [check for check in report["outcomes"] if check["id"] == "CFG004"]  # type: ignore[attr-defined]
    return (check.get("reason") or "" for check in checks if check["status"] == status)


def _passed(report: Mapping[str, object]) -> int:
    return sum(check["status"] == "pass" for check in report["outcomes"])  # type: ignore[attr-defined]
