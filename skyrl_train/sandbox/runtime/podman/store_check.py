"""The doctor's word on a store, before anything is started in it; and what follows from it.

The doctor runs as a process of its own: it only reads, and each rule about a damaged store stands in one place, its.
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
        outcomes: list[dict[str, Any]] = json.loads(text)["outcomes"]
        faults = [
            Fault(str(outcome["id"]), " ".join(str(finding["message"]) for finding in outcome["findings"]))
            for outcome in outcomes
            if outcome["status"] == "fail" and outcome["severity"] == "error"
        ]
        unseen = [f"{outcome['id']}: {outcome['reason']}" for outcome in outcomes if outcome["status"] == "unknown"]
    except (ValueError, KeyError, TypeError) as error:
        return Examined(unseen=(f"the doctor's report cannot be read: {error!r}",))
    return Examined(tuple(faults), tuple(unseen))


async def by_doctor(environ: Mapping[str, str]) -> Examined:
    argv = [sys.executable, "-m", "skyrl_doctor", "preflight", "--role", "runtime", "--format", "json"]
    argv += ["--select", ",".join(CHECKS), "--deadline", "30"]
    none, pipe = asyncio.subprocess.DEVNULL, asyncio.subprocess.PIPE
    try:
        child = await asyncio.create_subprocess_exec(
            *argv, env=dict(environ), start_new_session=True, stdin=none, stdout=pipe, stderr=none
        )
    except OSError as error:
        return Examined(unseen=(f"the doctor cannot be started: {error}",))
    try:
        async with asyncio.timeout(_LIMIT_S):
            said, _ = await child.communicate()
    except TimeoutError:
        return Examined(unseen=(f"the doctor did not end within {_LIMIT_S:g} s",))
    finally:
        if child.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            await child.wait()
    return read_report(said.decode("utf-8", "replace"))
