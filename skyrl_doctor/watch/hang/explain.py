"""Which process or call differs from the rest. Pure: stacks in, one sentence and its evidence out."""

import re
from collections.abc import Sequence
from enum import StrEnum

from skyrl_doctor.core.record import record
from skyrl_doctor.watch.hang.stacks import Frame, Stack

MOST_LINES, MOST_SHOWN, MOST_RANKS = 64, 6, 8
_WAITS = re.compile(
    r"torch/distributed/|torch/utils/data/dataloader\.py|ray/_private/worker\.py|ray/_private/client_mode_hook|ray/util/"
)
_STANDARD = re.compile(r"/lib\d*/python\d\.\d+/")
_COLLECTIVE = re.compile(r"torch/distributed/")
_IDLE = re.compile(r"torch/utils/data/_utils/worker\.py|ray/_private/workers/|resource_tracker\.py|forkserver\.py")
_LOOPS = re.compile(r"torch/utils/data/_utils/worker\.py|ray/_private/worker\.py")
_HELPER = re.compile(r"ray/(?:dashboard|autoscaler)/|autoscaler/_private/|_private/(?:log_monitor|runtime_env)")
"""Ray's own processes, which wait at all times."""
_IDLE_NAMES = frozenset({"main_loop", "_worker_loop"})
_WRAPPERS = re.compile(r"c10d_logger\.py|auto_init_hook|client_mode_hook|_contextlib\.py")


class Kind(StrEnum):
    """WORKING: in code of its own. WAITING: for other processes. IDLE: for work."""

    WORKING = "working"
    WAITING = "waiting"
    IDLE = "idle"


@record(kw_only=True)
class Sight:
    """One process: its title, its rank ("" for none) and its stacks, of which the first is the main thread's."""

    title: str
    rank: str = ""
    stacks: tuple[Stack, ...]

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.stacks[0].frames if self.stacks else ()


@record
class Hang:
    message: str
    evidence: tuple[str, ...]


def kind_of(sight: Sight) -> Kind:
    call = call_of(sight)
    if call is None or (call.name.rpartition(".")[2] in _IDLE_NAMES and _LOOPS.search(call.file)) or _only_idle(sight):
        return Kind.IDLE
    return Kind.WAITING if _WAITS.search(call.file) else Kind.WORKING


def call_of(sight: Sight) -> Frame | None:
    """The innermost call that is not of the standard library; else the innermost one."""
    frames = [frame for frame in sight.frames if not _WRAPPERS.search(frame.file)]
    own = [frame for frame in frames if not _is_standard(frame)]
    return next(iter(own or frames), None)


def _is_standard(frame: Frame) -> bool:
    """By the full path, as faulthandler writes it; or by a name of the library, as py-spy shortens it."""
    if frame.file.startswith("<frozen") or ("site-packages" not in frame.file and _STANDARD.search(frame.file)):
        return True
    return frame.file.partition("/")[0].removesuffix(".py") in _LIBRARY


def _only_idle(sight: Sight) -> bool:
    if any(_HELPER.search(frame.file) for frame in sight.frames):
        return True
    return all(_IDLE.search(frame.file) or _is_standard(frame) for frame in sight.frames) and any(
        _IDLE.search(frame.file) for frame in sight.frames
    )


def explain(sights: Sequence[Sight], unseen: Sequence[str] = ()) -> Hang | None:
    """What the stacks show; None where no process was read or all are idle."""
    busy = [sight for sight in sights if kind_of(sight) is not Kind.IDLE]
    if not busy:
        return None
    working = [sight for sight in busy if kind_of(sight) is Kind.WORKING]
    waiting = [sight for sight in busy if kind_of(sight) is Kind.WAITING]
    if working and waiting:
        message = f"{_places(working)}; {_places(waiting, verb='for it in' if len(working) == 1 else 'for them in')}"
    else:
        message = _places(busy)
    lines = [f"{sight.title}: {' < '.join(frame.text for frame in sight.frames[:MOST_SHOWN])}" for sight in busy]
    return Hang(message, (*lines, *unseen)[:MOST_LINES])


def _places(sights: Sequence[Sight], verb: str = "in") -> str:
    """Each call with its processes, the rarest first."""
    groups: dict[tuple[str, str], list[Sight]] = {}
    for sight in sights:
        call = call_of(sight)
        if call is not None:
            groups.setdefault((call.name, call.file), []).append(sight)
    ordered = sorted(groups.values(), key=len)
    return "; ".join(
        f"{_titles(group)} {'waits' if len(group) == 1 else 'wait'} {verb} {_call(group[0])}" for group in ordered[:4]
    )


def _call(sight: Sight) -> str:
    """`reward (rewards.py:6), in Event.wait (threading.py:629)`."""
    call, inner = call_of(sight), sight.frames[0]
    assert call is not None
    return call.text if inner == call or _COLLECTIVE.search(call.file) else f"{call.text}, in {inner.text}"


def _titles(group: Sequence[Sight]) -> str:
    if len(group) > 1 and all(sight.rank for sight in group):
        more = f" and {len(group) - MOST_RANKS} more" if len(group) > MOST_RANKS else ""
        return f"ranks {', '.join(sight.rank for sight in group[:MOST_RANKS])}{more}"
    more = f" and {len(group) - 3} more" if len(group) > 3 else ""
    return f"{', '.join(sight.title for sight in group[:3])}{more}"


_LIBRARY = frozenset(
    [
        "asyncio",
        "concurrent",
        "contextlib",
        "functools",
        "http",
        "importlib",
        "json",
        "logging",
        "multiprocessing",
        "queue",
        "runpy",
        "select",
        "selectors",
        "socket",
        "socketserver",
        "ssl",
        "subprocess",
        "threading",
        "time",
        "urllib",
    ]
)
