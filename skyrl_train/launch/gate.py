"""Runs the doctor's gate: before anything is submitted, and at the start of each job."""

import os
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from skyrl_train.contracts import bounded
from skyrl_train.contracts.assignment import assignment
from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.job_files import NODES, one_url
from skyrl_train.contracts.typed import Fields, FormatError, parse_object
from skyrl_train.launch.directory import CONFIG
from skyrl_train.launch.role import Role
from skyrl_train.node.ray_env import RUNTIME_URL
from skyrl_train.process import DROP, KEEP, Child, started

LOGIN_LIMIT_S = 60.0
DOCTOR = ("-m", "skyrl_doctor")
NEEDLESS_AT_LOGIN = ("ENV001",)
"""Checks left out at login: ENV001 runs a compiler, is the slowest check, and only warns on a node that does not train."""
NO_REASON = "its report is missing"


def report_path(role: str, job_dir: str) -> str:
    return os.path.join(job_dir, f"gate_{role}.json")


def environment(runtime_url: str | None) -> dict[str, str]:
    """Environment variables that name the runtime to the doctor if the configuration does not."""
    return {} if runtime_url is None or one_url(runtime_url) is None else {RUNTIME_URL: runtime_url}


NEEDLESS_FOR_OWN_RUNTIME = ("POD003", "POD011")
"""Left out for a user's own --runtime-command, which may need neither Podman nor ids for it."""
_OUR_RUNTIME = ("-m", "skyrl_train", "runtime", "serve")


def gated(role: Role, job_dir: str, payload: Sequence[str], check: Sequence[str] = ()) -> tuple[str, ...]:
    """The command line that passes the node's gate and then runs the payload.

    The runtime's verdict is kept apart, since the trainer reads the one in the job directory. `check` starts the doctor
    on each node of a job with several nodes.
    """
    verdicts = job_dir if role is Role.TRAINER else os.path.join(job_dir, "runtime")
    os.makedirs(verdicts, mode=0o700, exist_ok=True)
    report = ("--format", "json", "--output", report_path(role, job_dir))
    is_own_runtime = role is Role.RUNTIME and tuple(payload[1:5]) != _OUR_RUNTIME
    ignored = ("--ignore", ",".join(NEEDLESS_FOR_OWN_RUNTIME)) if is_own_runtime else ()
    words = (os.path.join(job_dir, CONFIG), "--role", role.node, *ignored, "--job-dir", verdicts, *report)
    if check:
        several = ("--nodes", "--step", shlex.join(check), "--node-dir", os.path.join(job_dir, NODES))
        return (sys.executable, *DOCTOR, "gate", *words, *several, "--", *payload)
    return (sys.executable, *DOCTOR, "gate", *words, "--", *payload)


class LoginGate:
    """The doctor's checks of a configuration, in a process that runs while the caller continues."""

    def __init__(self, child: Child, report: str) -> None:
        self._child, self._report = child, report
        self._end_at = time.monotonic() + LOGIN_LIMIT_S

    def refusal(self) -> tuple[str, ...] | None:
        """Waits for the doctor; a line for each reason of a refusal, or None if the configuration passed."""
        done = self._child.collect(max(0.1, self._end_at - time.monotonic()))
        if done.timed_out:
            raise UsageError(f"the login gate timed out after {LOGIN_LIMIT_S:g} s")
        if done.status not in (0, 1, 3):
            why = done.error_text.strip().removeprefix("skyrl-doctor preflight: ")
            raise UsageError(f"the login gate failed: {why[-400:]}")
        return None if done.ok else tuple(error_lines(self._report))


@contextmanager
def login(config: str, report: str, runtime_url: str | None = None) -> Iterator[LoginGate]:
    """Starts the doctor on the configuration before anything is submitted; it is ended with the context."""
    options = ("--role", "login", "--ignore", ",".join(NEEDLESS_AT_LOGIN))
    words = (sys.executable, *DOCTOR, "preflight", config, *options, "--format", "json", "--output", report)
    env = {**os.environ, **environment(runtime_url)}
    with started(words, env=env, stdout=DROP, stderr=KEEP) as child:
        yield LoginGate(child, report)


def refusal(role: Role, job_dir: str) -> str:
    """The errors that the gate found, in one line."""
    return "; ".join(error_lines(report_path(role, job_dir))) or NO_REASON


def error_lines(path: str) -> Iterator[str]:
    """One line for each error of a report, or for each reason of missing results if there is no error."""
    try:
        yield from list(_error_lines(parse_object(bounded.read_bytes(path)).objects("outcomes")))
    except (OSError, FormatError):
        return


def _error_lines(outcomes: Sequence[Fields]) -> Iterator[str]:
    errors = [
        f"{outcome.text('id')} {found.text('message')}{_location(found)}{_to_do(found)}"
        for outcome in outcomes
        for found in outcome.objects("findings")
        if outcome.text("severity") == "error" and outcome.text("status") == "fail"
    ]
    yield from errors or _unknown_lines(outcomes)


def _unknown_lines(outcomes: Sequence[Fields]) -> Iterator[str]:
    """One line for each reason: a missing interpreter leaves twenty checks without a result."""
    ids: dict[str, list[str]] = {}
    for outcome in outcomes:
        if outcome.text("status") == "unknown":
            ids.setdefault(outcome.text("reason"), []).append(outcome.text("id"))
    for reason, (first, *more) in ids.items():
        others = f" (nor {', '.join(more)})" if more else ""
        yield f"{first} could not be checked{others}: {reason}"


def _location(found: Fields) -> str:
    location = found.inner_or_none("location")
    if location is None:
        return ""
    line = location.integer("line", 0)
    return f" (at {location.text('file')}{f':{line}' if line else ''})"


def _to_do(found: Fields) -> str:
    """The remedy as one line, so that the user need not open the report."""
    remedy = found.inner_or_none("remedy")
    if remedy is None:
        return ""
    settings = (assignment(name, value) for name, value in remedy.named_texts("settings").items())
    return ". To do: " + ": ".join(
        filter(None, (remedy.text("summary"), ", ".join((*remedy.texts("commands"), *settings))))
    )
