"""The grader's programs in sandboxes: what the agent changed, and the tests in a sandbox where it never was."""

import base64
import binascii
import functools
import json
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from skyrl_train.agent import inside as tools
from skyrl_train.agent.sandboxes.bundle import pack
from skyrl_train.contracts.agent.ports import Sandbox
from skyrl_train.contracts.errors import TrainError
from skyrl_train.contracts.rewards.r2e import SUMMARY
from skyrl_train.contracts.rewards.suite_run import KILLED, SuiteRun
from skyrl_train.contracts.typed import Fields, FormatError, parse_object
from skyrl_train.rewards import inside
from skyrl_train.tasks.r2e_sandbox import RUN_TESTS

CHANGES_S = 120.0
_GRACE_S = 60.0
"""Beyond the tests' limit: the changes are applied first."""
_MOST_ANSWER = 256 << 20
_ORDER = ("PASSED", "SKIPPED", "XFAIL", "XPASS", "ERROR", "FAILED")
"""The order of statuses in pytest's short summary: the last one of a test counts."""

Changes = Mapping[str, object]
"""An agent's sandbox's answer: what it says that it changed. Only the new sandbox judges it."""
Results = Sequence[tuple[str, ...]]
"""Statuses with the names of tests."""
NO_CHANGES: Changes = {"paths": None, "files": [], "left_out": []}


class GraderError(TrainError):
    """A program of the grader gave no readable answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedRun:
    """A run of the tests in a new sandbox. `fault` is empty if the results are sound: they came from pytest itself, up to
    its end, and each canary failed. `ended`: they came from pytest itself, up to its end, whatever the canaries did.
    `ignored`: changed paths that are not graded."""

    run: SuiteRun
    fault: str = ""
    ended: bool = False
    duration_s: float = 0.0
    ignored: tuple[str, ...] = ()


async def changes_in(sandbox: Sandbox, *, since: int) -> Changes:
    """What was changed in the repository. Raises GraderError, and what the sandbox raises."""
    found = await _ask(sandbox, {"work": "changes", "since": since}, CHANGES_S)
    if "too_large" in found:
        raise GraderError(found.text("too_large"))
    try:
        paths, left_out = found.texts("paths"), found.texts("left_out")
        files = [{name: each.value(name) for name in each} for each in found.objects("files")]
    except FormatError as error:
        raise GraderError(f"the list of changes is invalid: {error}") from error
    return {"paths": paths, "files": files, "left_out": left_out}


async def graded_run(
    sandbox: Sandbox, changes: Changes, *, names: Collection[str], edits: Collection[str], limit_s: float
) -> GradedRun:
    """Applies the changes in a sandbox that is prepared, and runs the tests."""
    request = {
        "work": "grade",
        "changes": changes,
        "edits": [*edits],
        "names": [*names],
        "script": RUN_TESTS,
        "limit_s": limit_s,
    }
    found = await _ask(sandbox, request, limit_s + _GRACE_S)
    try:
        return _graded(found)
    except FormatError as error:
        raise GraderError(f"the results are invalid: {error}") from error


def _graded(found: Fields) -> GradedRun:
    results = None if found.value("results") is None else found.rows("results", 2)
    added = found.named_lists("canaries")
    canaries = [name for names in added.values() for name in names]
    printed = found.text("output", "")
    output = _summary(results, canaries) if results else printed
    run = SuiteRun(
        output=_without(output, canaries),
        exit_code=found.integer("exit_code"),
        timed_out=found.flag("timed_out"),
        truncated=not results and found.flag("truncated"),
    )
    fault = _early_end(run, results, finished=found.flag("finished"))
    return GradedRun(
        run=run,
        fault=fault or _blind_spot(results or (), added),
        ended=not fault,
        duration_s=found.number("duration_s"),
        ignored=found.texts("ignored"),
    )


def _early_end(run: SuiteRun, results: Results | None, *, finished: bool) -> str:
    """Why the results are not all that pytest has to report."""
    if run.timed_out:
        return "the tests timed out"
    if results is None:
        return f"pytest did not start, or more than once; exit status {run.exit_code}"
    if not finished or run.exit_code in KILLED:
        return f"the tests ended before pytest did; exit status {run.exit_code}"
    return ""


def _blind_spot(results: Results, canaries: Mapping[str, Sequence[str]]) -> str:
    """Why nothing shows that failures are reported. A file without any result has not run: its canaries do not count."""
    ran = {name.partition("::")[0] for _, name in results}
    expected = {name for path, names in canaries.items() if path in ran for name in names}
    found = [(status, name) for status, name in results if name in expected]
    statuses = {status for status, _ in found} | ({"not run"} if expected - {name for _, name in found} else set())
    if wrong := sorted(statuses - {"FAILED", "ERROR"}):
        return f"a test that must fail is {wrong[0]}: the code under test changes the results"
    return "" if expected else "no test that must fail was run"


def _summary(results: Results, canaries: Sequence[str]) -> str:
    hidden = frozenset(canaries)
    shown = [row for row in results if row[1] not in hidden and row[0] in _ORDER]
    ordered = sorted(shown, key=lambda row: _ORDER.index(row[0]))
    return "\n".join([SUMMARY, *(f"{status} {' '.join(name.splitlines())}" for status, name in ordered), ""])


def _without(output: str, canaries: Sequence[str]) -> str:
    """The output without its lines about canaries."""
    words = {name.rpartition("::")[2] for name in canaries}
    if not any(word in output for word in words):
        return output
    return "".join(line for line in output.splitlines(keepends=True) if not any(word in line for word in words))


async def _ask(sandbox: Sandbox, request: Mapping[str, object], limit_s: float) -> Fields:
    packed = zlib.compress(json.dumps(request).encode(), 3)
    text = await sandbox.program(_bundle(), packed, limit_s=limit_s)
    try:
        data = zlib.decompressobj().decompress(base64.b64decode(text, validate=True), _MOST_ANSWER)
        return parse_object(data.decode())
    except (binascii.Error, zlib.error, ValueError) as error:
        raise GraderError(f"the grader's program gave no answer: {text.strip()[-300:] or 'no output'}") from error


@functools.cache
def _bundle() -> bytes:
    return pack(f"{inside.__name__}.main", inside, tools)
