"""How many checkpoints stand on the disk at once. Pure."""


def at_once(*, keep: int | None, steps: int | None, every: int) -> int | None:  # FIX(CKP003)
    """The kept ones and the one that is being written, for old ones go only when the new one is whole; never more than
    the run saves (its last step is saved too). None where no end is known."""
    saves = None if steps is None else -(-steps // every)
    kept = None if keep is None or keep < 1 else keep + 1
    return min((count for count in (saves, kept) if count is not None), default=None)
