"""What a resume of a certain run would die of, beyond what a look at the files tells."""

from collections.abc import Iterable, Iterator

from skyrl_train.checkpoints.saved import Saved, deep_faults, strangers
from skyrl_train.contracts.checkpoints.rules import world_fault


def more_faults(saved: Saved, *, ranks: int | None, deep: bool) -> Iterator[str]:
    """Another number of GPUs, and with `deep` every byte."""
    if ranks is not None and saved.worlds and (wrong := world_fault(saved.worlds, ranks)):
        yield f"it {wrong}"
    if deep:
        yield from deep_faults(saved)


def strange(chosen: Iterable[Saved]) -> Iterator[str]:
    for saved in chosen:
        yield from (f"{saved.name}/{name}" for name in strangers(saved))
