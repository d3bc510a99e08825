"""Renders checkpoints as text and as JSON."""

import json
import time
from collections.abc import Iterable, Iterator, Mapping

from skyrl_train.checkpoints.prune import Pruned
from skyrl_train.checkpoints.saved import Saved
from skyrl_train.checkpoints.store import Survey
from skyrl_train.memory.units import gib

SCHEMA = 1


def as_json(found: Survey, faults: Mapping[int, tuple[str, ...]] | None = None, *, only: int | None = None) -> str:
    """The survey as JSON. `faults` adds faults by step; `only` selects one step."""
    last = found.last_good
    data = {
        "schema": SCHEMA,
        "root": found.root,
        "tracker": found.tracked,
        "last_good": None if last is None else last.step,
        "checkpoints": [
            _record(one, (faults or {}).get(one.step, ())) for one in found.saved if only in (None, one.step)
        ],
    }
    return json.dumps(data, indent=2) + "\n"


def _record(saved: Saved, more: tuple[str, ...]) -> dict[str, object]:
    return {
        "step": saved.step,
        "path": saved.path,
        "state": str(saved.state),
        "marked": saved.marked,
        "bytes": saved.size,
        "ranks": list(saved.worlds),
        "saved_at": saved.saved_at,
        "faults": [*saved.faults, *more],
    }


def lines(found: Survey, *, only: int | None = None) -> Iterator[str]:
    """One line for each checkpoint. An arrow marks the one that a resume loads."""
    last = found.last_good
    for saved in (one for one in found.saved if only in (None, one.step)):
        arrow = "->" if last is not None and saved.step == last.step else "  "
        yield f"{arrow} {line(saved)}"
        yield from (f"       {fault}" for fault in saved.faults)
    yield resume_line(found)


def line(saved: Saved) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(saved.saved_at)) if saved.saved_at else "-" * 16
    ranks = "+".join(map(str, saved.worlds)) or "no"
    state = saved.state if saved.marked or not saved.complete else f"{saved.state}, not marked"
    return f"{saved.name:<18} {gib(saved.size):8.2f} GiB  {when}  {ranks} GPU{'' if ranks == '1' else 's'}  {state}"


def resume_line(found: Survey) -> str:
    """One sentence on what a resume would load."""
    last, tracker = found.last_good, found.tracker
    if last is None:
        return f"{found.root}: no complete checkpoint" if found.saved else f"{found.root}: no checkpoint"
    if found.tracked == last.step:
        return f"a resume loads {last.name}"
    state = "is missing" if tracker is None else f"contains {tracker.strip()!r}"
    return f"a resume loads {last.name}; the tracker {state} and the next start repairs it"


def pruned_lines(pruned: Pruned, *, apply: bool) -> Iterator[str]:
    word = "removed" if apply else "would remove"
    yield from (f"{word} {line(one)}" for one in pruned.removed)
    yield from (f"{word} {name}, left by an interrupted deletion" for name in pruned.left)
    yield from (f"kept {line(one)}" for one in pruned.kept)
    if not apply and (pruned.removed or pruned.left):
        yield f"{gib(sum(one.size for one in pruned.removed)):.2f} GiB can be freed; run again with --apply"


def pruned_json(pruned: Pruned, *, apply: bool) -> str:
    data = {
        "schema": SCHEMA,
        "applied": apply,
        "removed": _steps(pruned.removed),
        "kept": _steps(pruned.kept),
        "left_of_cut_deletions": list(pruned.left),
        "bytes": sum(one.size for one in pruned.removed),
    }
    return json.dumps(data, indent=2) + "\n"


def _steps(saved: Iterable[Saved]) -> list[int]:
    return [one.step for one in saved]
