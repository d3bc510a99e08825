"""Lets the doctor check a store before its use, and decides what to do with it.

The doctor runs as a child process and only reads; the rules about damaged stores are all there.
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
"""Faults of the store: another store does not have them. Faults of the node remain."""
_IMAGES_WHOLE = frozenset({"POD001", "POD005"})
_LIMIT_S = 60.0


@dataclass(frozen=True, slots=True)
class StoreFault:
    id: str
    message: str

    def __str__(self) -> str:
        return f"{self.id}: {self.message}"


@dataclass(frozen=True, slots=True)
class StoreReport:
    faults: tuple[StoreFault, ...] = ()
    unchecked: tuple[str, ...] = ()


CheckStore = Callable[[Mapping[str, str]], Awaitable[StoreReport]]
"""Checks the store that an environment names."""


class StoreDecision(Enum):
    USE = auto()
    SET_ASIDE = auto()
    REFUSE = auto()


def decide(faults: Iterable[StoreFault]) -> StoreDecision:
    found = {fault.id for fault in faults}
    if found - _OF_THE_STORE:
        return StoreDecision.REFUSE
    return StoreDecision.SET_ASIDE if found else StoreDecision.USE


def images_are_whole(faults: Iterable[StoreFault]) -> bool:
    """Whether a new store may read the images of the old one."""
    return {fault.id for fault in faults} <= _IMAGES_WHOLE


def read_report(text: str) -> StoreReport:
    """Reads the doctor's JSON. Anything else counts as not checked, never as a store without faults."""
    try:
        outcomes = parse_object(text).objects("outcomes")
        faults = [
            StoreFault(outcome.text("id"), " ".join(finding.text("message") for finding in outcome.objects("findings")))
            for outcome in outcomes
            if outcome.text("status") == "fail" and outcome.text("severity") == "error"
        ]
        unseen = [
            f"{outcome.text('id')}: {outcome.text('reason')}"
            for outcome in outcomes
            if outcome.text("status") == "unknown"
        ]
    except FormatError as error:
        return StoreReport(unchecked=(f"the doctor's report cannot be read: {error}",))
    return StoreReport(tuple(faults), tuple(unseen))


async def check_by_doctor(environ: Mapping[str, str]) -> StoreReport:
    argv = [sys.executable, "-m", "skyrl_doctor", "preflight", "--role", "runtime", "--format", "json"]
    argv += ["--select", ",".join(CHECKS), "--deadline", "30"]
    try:
        done = await run_async(argv, limit_s=_LIMIT_S, env=environ, stderr=DROP)
    except OSError as error:
        return StoreReport(unchecked=(f"the doctor cannot be started: {error}",))
    if done.timed_out:
        return StoreReport(unchecked=(f"the doctor timed out after {_LIMIT_S:g} s",))
    return read_report(done.text)
