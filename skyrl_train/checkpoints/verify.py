"""Finds faults that would break the resume of a given run."""

from collections.abc import Iterable, Iterator

from skyrl_train.checkpoints.saved import Saved, deep_faults, foreign_imports
from skyrl_train.contracts.checkpoints.rules import world_fault


def more_faults(saved: Saved, *, ranks: int | None, deep: bool) -> Iterator[str]:
    """Faults from a different number of GPUs, and with `deep` from reading every byte."""
    if ranks is not None and saved.worlds and (wrong := world_fault(saved.worlds, ranks)):
        yield f"it {wrong}"
    if deep:
        yield from deep_faults(saved)


def foreign_import_lines(chosen: Iterable[Saved]) -> Iterator[str]:
    for saved in chosen:
        yield from (f"{saved.name}/{name}" for name in foreign_imports(saved))
