"""How many checkpoints are on the disk at the same time. Pure."""


def at_once(*, keep: int | None, steps: int | None, every: int) -> int | None:  # FIX(CKP003)
    """The kept checkpoints and the one being written, but at most as many as the run saves. None if both are unlimited.

    Old ones are removed only when the new one is complete. The last step is saved too.
    """
    saves = None if steps is None else -(-steps // every)
    kept = None if keep is None or keep < 1 else keep + 1
    return min((count for count in (saves, kept) if count is not None), default=None)
