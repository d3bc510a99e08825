"""The doctor's word on a store, before anything is started in it; and what follows from it.

The doctor runs as a process of its own: it only reads, and each rule about a damaged store stands in one place, its.
"""

import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, auto

from skyrl_train.contracts.typed import FormatError, parse_object
from skyrl_train.process import DROP
from skyrl_train.process_async import run_async

CHECKS = ("POD001", "POD002", "POD003", "POD005", "POD006", "POD007", "POD008")
_OF_THE_STORE = frozenset({"POD001", "POD005", "POD006", "POD007"})
"""A store of another name has none of it. What is wrong with the node has no such cure."""
_IMAGES_WHOLE = frozenset({"POD001", "POD005"})
_LIMIT_S = 60.0


@dataclass(frozen=True, slots=True)
class Fault:
    id: str
    message: str

    def __str__(self) -> str:
        return f"{self.id}: {self.message}"


@dataclass(frozen=True, slots=True)
class Examined:
    faults: tuple[Fault, ...] = ()
    unseen: tuple[str, ...] = ()


Examine = Callable[[Mapping[str, str]], Awaitable[Examined]]
"""Looks at the store that an environment names."""


class Next(Enum):
    USE = auto()
    SET_ASIDE = auto()
    REFUSE = auto()


def what_next(faults: Iterable[Fault]) -> Next:
    found = {fault.id for fault in faults}
    if found - _OF_THE_STORE:
        return Next.REFUSE
    return Next.SET_ASIDE if found else Next.USE


def images_are_whole(faults: Iterable[Fault]) -> bool:
    """Whether a new store may read the images of the old one."""
    return {fault.id for fault in faults} <= _IMAGES_WHOLE


def read_report(text: str) -> Examined:
    """From the doctor's JSON. Text that is no report is something unseen, and never a store without faults."""
    try:
        outcomes = parse_object(text).objects("outcomes")
        faults = [
            Fault(outcome.text("id"), " ".join(finding.text("message") for finding in outcome.objects("findings")))
            for outcome in outcomes
            if outcome.text("status") == "fail" and outcome.text("severity") == "error"
        ]
        unseen = [
            f"{outcome.text('id')}: {outcome.text('reason')}"
            for outcome in outcomes
            if outcome.text("status") == "unknown"
        ]
    except FormatError as error:
        return Examined(unseen=(f"the doctor's report cannot be read: {error}",))
    return Examined(tuple(faults), tuple(unseen))


async def by_doctor(environ: Mapping[str, str]) -> Examined:
    argv = [sys.executable, "-m", "skyrl_doctor", "preflight", "--role", "runtime", "--format", "json"]
    argv += ["--select", ",".join(CHECKS), "--deadline", "30"]
    try:
        done = await run_async(argv, limit_s=_LIMIT_S, env=environ, stderr=DROP)
    except OSError as error:
        return Examined(unseen=(f"the doctor cannot be started: {error}",))
    if done.timed_out:
        return Examined(unseen=(f"the doctor did not end within {_LIMIT_S:g} s",))
    return read_report(done.text)
