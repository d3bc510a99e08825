"""What a sandbox was held back from, for its status: sandboxd writes it into its log, the kernel counts it in its cgroup."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass

from skyrl_train.contracts.sandbox.wire import State
from skyrl_train.contracts.sandboxd_api import LIMIT
from skyrl_train.sandbox.runtime.record import Record
from skyrl_train.sandbox.runtime.sandboxes import Sandboxes
from skyrl_train.sandbox.runtime.store import SessionStore
from skyrl_train.sandbox.runtime.telemetry import Telemetry

_EVERY_S = 1.0
_MARK = f"sandboxd: {LIMIT}"


def limits_in(logs: str) -> tuple[str, ...]:
    """In the order in which they were written."""
    return tuple(line[len(_MARK) :].strip() for line in logs.splitlines() if line.startswith(_MARK))


@dataclass(frozen=True, kw_only=True)
class ExceededLimits:
    store: SessionStore
    sandboxes: Sandboxes
    telemetry: Telemetry
    now: Callable[[], float]

    async def added_to(self, record: Record) -> Record:
        """The session with an event for each limit that it exceeded since the last look. Never an error."""
        name, last = record.runtime_id, self.sandboxes.last_log_read
        if record.state is not State.READY or self.now() - last.get(name, 0.0) < _EVERY_S:
            return record
        last[name] = self.now()
        container = self.sandboxes.containers.get(name)
        found = [*limits_in(await self.sandboxes.logs(name)), *oom_kills(container.pid if container else 0)]
        current = self.store.current(name)
        new = [limit for limit in found if f"limit: {limit}" not in current.events]
        for limit in new if current.live else ():
            self.telemetry.metrics.limits.inc()
            self.telemetry.events.add("limit", runtime_id=name, session_id=record.session_id, why=limit)
            current = await self.store.put(current.now(current.state, event=f"limit: {limit}"))
        return current


def oom_kills(pid: int, *, proc: str = "/proc", cgroups: str = "/sys/fs/cgroup") -> tuple[str, ...]:
    """Of the cgroup (version 2) of a container's first process: how often the kernel ended one for its memory, and
    whether processes were refused."""
    with contextlib.suppress(OSError, ValueError):
        with open(f"{proc}/{pid}/cgroup", encoding="utf-8") as file:
            path = next((line[3:].strip() for line in file if line.startswith("0::")), "")
        if not path:
            return ()
        memory, pids = (_counts(f"{cgroups}{path}/{name}.events") for name in ("memory", "pids"))
        killed, refused = memory.get("oom_kill", 0), pids.get("max", 0)
        said = [f"out of memory: the kernel ended {killed} processes"] * bool(killed)
        said += ["as many processes as a sandbox may have: more were refused"] * bool(refused)
        return tuple(said)
    return ()


def _counts(path: str) -> dict[str, int]:
    with contextlib.suppress(OSError, ValueError), open(path, encoding="utf-8") as file:
        return {name: int(count) for name, count in (line.split() for line in file)}
    return {}
