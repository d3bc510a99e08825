"""Pure rules of checkpoints: how many stand on the disk at once, which a run can load, and its last step."""


def at_once(*, keep: int | None, steps: int | None, every: int) -> int | None:  # FIX(CKP003)
    """The kept ones and the one that is being written, for old ones go only when the new one is whole; never more than
    the run saves (its last step is saved too). None where no end is known."""
    saves = None if steps is None else -(-steps // every)
    kept = None if keep is None or keep < 1 else keep + 1
    return min((count for count in (saves, kept) if count is not None), default=None)


def world_fault(worlds: tuple[int, ...], ranks: int) -> str | None:
    """Shards are loaded by rank: verl looks for its own number of GPUs in the names, and finds no file."""
    if worlds == (ranks,):
        return None
    return (
        f"was saved by {' and '.join(map(str, worlds)) or 'no'} GPUs and this run has {ranks}; wanted the same number"
    )


def last_step(*, steps: int | None, epochs: int | None, rows: int | None, batch: int | None) -> int | None:
    """Where verl's trainer ends: `steps` and `epochs` both bound it. None where neither is known."""
    each = rows // batch if rows is not None and batch else None
    by_epochs = each * epochs if each is not None and epochs is not None else None
    return min((end for end in (steps, by_epochs) if end is not None), default=None)
