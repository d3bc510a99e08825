"""Lets the doctor check a store before its use, and decides what to do with it.

The doctor runs as a child process and only reads; the rules about damaged stores are all there.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

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
    unseen: tuple[str, ...] = ()


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
        outcomes: list[dict[str, Any]] = json.loads(text)["outcomes"]
        faults = [
            StoreFault(str(outcome["id"]), " ".join(str(finding["message"]) for finding in outcome["findings"]))
            for outcome in outcomes
            if outcome["status"] == "fail" and outcome["severity"] == "error"
        ]
        unseen = [f"{outcome['id']}: {outcome['reason']}" for outcome in outcomes if outcome["status"] == "unknown"]
    except (ValueError, KeyError, TypeError) as error:
        return StoreReport(unseen=(f"the doctor's report cannot be read: {error!r}",))
    return StoreReport(tuple(faults), tuple(unseen))


async def check_by_doctor(environ: Mapping[str, str]) -> StoreReport:
    argv = [sys.executable, "-m", "skyrl_doctor", "preflight", "--role", "runtime", "--format", "json"]
    argv += ["--select", ",".join(CHECKS), "--deadline", "30"]
    none, pipe = asyncio.subprocess.DEVNULL, asyncio.subprocess.PIPE
    try:
        child = await asyncio.create_subprocess_exec(
            *argv, env=dict(environ), start_new_session=True, stdin=none, stdout=pipe, stderr=none
        )
    except OSError as error:
        return StoreReport(unseen=(f"the doctor cannot be started: {error}",))
    try:
        async with asyncio.timeout(_LIMIT_S):
            output, _ = await child.communicate()
    except TimeoutError:
        return StoreReport(unseen=(f"the doctor timed out after {_LIMIT_S:g} s",))
    finally:
        if child.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            await child.wait()
    return read_report(output.decode("utf-8", "replace"))
