"""Rules of checkpoints: how many are on the disk at the same time, which a run can load, and its last step. Pure."""


def at_once(*, keep: int | None, steps: int | None, every: int) -> int | None:  # FIX(CKP003)
    """The kept checkpoints and the one being written, but at most as many as the run saves. None if both are unlimited.

    Old ones are removed only when the new one is complete. The last step is saved too.
    """
    saves = None if steps is None else -(-steps // every)
    kept = None if keep is None or keep < 1 else keep + 1
    return min((count for count in (saves, kept) if count is not None), default=None)


def world_fault(worlds: tuple[int, ...], ranks: int) -> str | None:
    """The fault if the number of GPUs differs: verl looks for its own number of GPUs in the names of the shards."""
    if worlds == (ranks,):
        return None
    gpus = f"{' and '.join(map(str, worlds)) or 'no'} GPU{'' if worlds == (1,) else 's'}"
    return f"was saved by {gpus}, but this run has {ranks}; the numbers must be equal"


def last_step(*, steps: int | None, epochs: int | None, rows: int | None, batch: int | None) -> int | None:
    """The last step of verl's trainer, limited by `steps` and by `epochs`. None if neither is known."""
    each = rows // batch if rows is not None and batch else None
    by_epochs = each * epochs if each is not None and epochs is not None else None
    return min((end for end in (steps, by_epochs) if end is not None), default=None)
