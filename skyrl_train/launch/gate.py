"""The doctor's gate, as a command: before anything is submitted, and in the first lines of each job."""

import os
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

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
"""It runs a compiler, which takes longer than all else, and on a node that will not train it only warns: that refuses nothing."""


def report_path(role: str, job_dir: str) -> str:
    return os.path.join(job_dir, f"gate_{role}.json")


def environment(runtime_url: str | None) -> dict[str, str]:
    """What tells the doctor of a runtime that the configuration does not name."""
    return {} if runtime_url is None or one_url(runtime_url) is None else {RUNTIME_URL: runtime_url}


def gated(role: Role, job_dir: str, payload: Sequence[str], look: Sequence[str] = ()) -> tuple[str, ...]:
    """The payload behind the gate of its node. Only the trainer's verdict is what the trainer asks for.

    `look` starts the doctor on each node, where the job has several.
    """
    verdicts = job_dir if role is Role.TRAINER else os.path.join(job_dir, "runtime")
    os.makedirs(verdicts, mode=0o700, exist_ok=True)
    report = ("--format", "json", "--output", report_path(role, job_dir))
    words = (os.path.join(job_dir, CONFIG), "--role", role.node, "--job-dir", verdicts, *report)
    if look:
        several = ("--nodes", "--step", shlex.join(look), "--node-dir", os.path.join(job_dir, NODES))
        return (sys.executable, *DOCTOR, "gate", *words, *several, "--", *payload)
    return (sys.executable, *DOCTOR, "gate", *words, "--", *payload)


class Look:
    """The doctor's look at a configuration, in a process of its own while the caller goes on."""

    def __init__(self, child: Child, report: str) -> None:
        self._child, self._report = child, report
        self._end_at = time.monotonic() + LOGIN_LIMIT_S

    def refusal(self) -> str | None:
        """Waits for the end; why it is refused, else nothing."""
        done = self._child.collect(max(0.1, self._end_at - time.monotonic()))
        if done.timed_out:
            raise UsageError(f"the login gate did not answer within {LOGIN_LIMIT_S:g} s")
        if done.status not in (0, 1, 3):
            raise UsageError(f"the login gate failed: {done.error_text.strip()[-400:]}")
        return None if done.ok else "\n".join(said(self._report)) or f"exit status {done.status}"


@contextmanager
def login(config: str, report: str, runtime_url: str | None = None) -> Iterator[Look]:
    """Examines the configuration here, before anything is submitted; ended with the context."""
    what = ("--role", "login", "--ignore", ",".join(NEEDLESS_AT_LOGIN))
    words = (sys.executable, *DOCTOR, "preflight", config, *what, "--format", "json", "--output", report)
    env = {**os.environ, **environment(runtime_url)}
    with started(words, env=env, stdout=DROP, stderr=KEEP) as child:
        yield Look(child, report)


def refusal(role: Role, job_dir: str) -> str:
    """What the gate found, in one line."""
    return "; ".join(said(report_path(role, job_dir))) or "its report is missing"


def said(path: str) -> Iterator[str]:
    """Each error of a report, and what could not be looked at where there is none. Nothing of a damaged one."""
    try:
        with open(path, "rb") as file:
            yield from list(_said(parse_object(file.read()).objects("outcomes")))
    except (OSError, FormatError):
        return


def _said(outcomes: Sequence[Fields]) -> Iterator[str]:
    errors = [
        f"{outcome.text('id')} {found.text('message')}{_where(found)}{_to_do(found)}"
        for outcome in outcomes
        for found in outcome.objects("findings")
        if outcome.text("severity") == "error" and outcome.text("status") == "fail"
    ]
    unknown = [
        f"{one.text('id')} could not look: {one.text('reason')}" for one in outcomes if one.text("status") == "unknown"
    ]
    yield from errors or unknown


def _where(found: Fields) -> str:
    place = found.inner_or_none("location")
    if place is None:
        return ""
    line = place.integer("line", 0)
    return f" (at {place.text('file')}{f':{line}' if line else ''})"


def _to_do(found: Fields) -> str:
    """In one line: whoever is refused should not have to look into a report first."""
    remedy = found.inner_or_none("remedy")
    if remedy is None:
        return ""
    settings = (f"{name} = {value}" for name, value in remedy.named_texts("settings").items())
    return ". To do: " + ": ".join(
        filter(None, (remedy.text("summary"), ", ".join((*remedy.texts("commands"), *settings))))
    )
