"""Checkpoints for a person, and for a program."""

import json
import time
from collections.abc import Iterable, Iterator, Mapping

from skyrl_train.checkpoints.prune import Pruned
from skyrl_train.checkpoints.saved import Saved
from skyrl_train.checkpoints.store import Survey
from skyrl_train.memory.units import gib

SCHEMA = 1


def as_json(found: Survey, faults: Mapping[int, tuple[str, ...]] | None = None, *, only: int | None = None) -> str:
    """`faults` are further ones, by step, that only a verification finds; `only` leaves the other steps out."""
    last = found.last_good
    said = {
        "schema": SCHEMA,
        "root": found.root,
        "tracker": found.tracked,
        "last_good": None if last is None else last.step,
        "checkpoints": [
            _record(one, (faults or {}).get(one.step, ())) for one in found.saved if only in (None, one.step)
        ],
    }
    return json.dumps(said, indent=2) + "\n"


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
    """One checkpoint a line, the one that a resume takes marked by an arrow."""
    last = found.last_good
    for saved in (one for one in found.saved if only in (None, one.step)):
        arrow = "->" if last is not None and saved.step == last.step else "  "
        yield f"{arrow} {shown(saved)}"
        yield from (f"       {fault}" for fault in saved.faults)
    yield ending(found)


def shown(saved: Saved) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(saved.saved_at)) if saved.saved_at else "-" * 16
    ranks = "+".join(map(str, saved.worlds)) or "no"
    state = saved.state if saved.marked or not saved.complete else f"{saved.state}, without our mark"
    return f"{saved.name:<18} {gib(saved.size):8.2f} GiB  {when}  {ranks} GPU{'' if ranks == '1' else 's'}  {state}"


def ending(found: Survey) -> str:
    """What a resume would do, in a sentence."""
    last, tracker = found.last_good, found.tracker
    if last is None:
        return f"{found.root}: no complete checkpoint" if found.saved else f"{found.root}: no checkpoint"
    if found.tracked == last.step:
        return f"a resume takes {last.name}"
    stood = "is not there" if tracker is None else f"says {tracker.strip()!r}"
    return f"a resume takes {last.name}; the tracker {stood}, and the next start puts it right"


def pruned_lines(pruned: Pruned, *, apply: bool) -> Iterator[str]:
    word = "removed" if apply else "would remove"
    yield from (f"{word} {shown(one)}" for one in pruned.removed)
    yield from (f"{word} {name}, what a cut deletion left" for name in pruned.left)
    yield from (f"kept {shown(one)}" for one in pruned.kept)
    if not apply and (pruned.removed or pruned.left):
        yield f"{gib(sum(one.size for one in pruned.removed)):.2f} GiB; --apply removes them"


def pruned_json(pruned: Pruned, *, apply: bool) -> str:
    said = {
        "schema": SCHEMA,
        "applied": apply,
        "removed": _steps(pruned.removed),
        "kept": _steps(pruned.kept),
        "left_of_cut_deletions": list(pruned.left),
        "bytes": sum(one.size for one in pruned.removed),
    }
    return json.dumps(said, indent=2) + "\n"


def _steps(saved: Iterable[Saved]) -> list[int]:
    return [one.step for one in saved]
