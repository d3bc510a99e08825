"""What a sandbox was held back from, for its status: sandboxd writes it into its log, the kernel counts it in its cgroup."""

import contextlib

from skyrl_train.contracts.sandbox.wire import State
from skyrl_train.contracts.sandboxd_api import LIMIT
from skyrl_train.sandbox.runtime.record import Record
from skyrl_train.sandbox.runtime.store import Parts

_EVERY_S = 1.0
_MARK = f"sandboxd: {LIMIT}"


def limits_in(logs: str) -> tuple[str, ...]:
    """In the order in which they were written."""
    return tuple(line[len(_MARK) :].strip() for line in logs.splitlines() if line.startswith(_MARK))


async def noticed(parts: Parts, record: Record) -> Record:
    """The session with what it went too far in since somebody last asked. Never an error: it is asked for on the way."""
    if record.state is not State.READY or parts.now() - parts.looked.get(record.runtime_id, 0.0) < _EVERY_S:
        return record
    parts.looked[record.runtime_id] = parts.now()
    container = parts.containers.get(record.runtime_id)
    found = [*limits_in(await parts.logs(record.runtime_id)), *oom_kills(container.pid if container else 0)]
    current = parts.current(record.runtime_id)
    new = [said for said in found if f"limit: {said}" not in current.events]
    for said in new if current.live else ():
        parts.metrics.count("limits_total")
        parts.events.add("limit", runtime_id=record.runtime_id, session_id=record.session_id, why=said)
        current = await parts.put(current.now(current.state, event=f"limit: {said}"))
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
