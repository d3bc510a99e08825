"""What asynchronous training needs of its settings (CFG009)."""

import math

RECOMPUTING_LOSSES = (
    "regular",
    "dual_clip",
    "gspo",
    "cispo",
    "clip_cov",
    "kl_cov",
    "sapo",
    "cross_entropy",
    "importance_sampling",
)
"""SkyRL's losses that compare with log-probs of the policy before the step, which fully asynchronous training does not keep."""


def worker_range(mini_batch: int, staleness: int) -> tuple[int, int]:
    """The fewest and the most generation workers: fewer starve a mini batch, more could never all work."""
    return mini_batch, mini_batch * (staleness + 1)


def fits_staleness(workers: int, mini_batch: int, staleness: int) -> bool:  # FIX(CFG009)
    least, most = worker_range(mini_batch, staleness)
    return least <= workers <= most


def fewest_steps(batches_ahead: float) -> int:
    """The steps in which a prompt takes part if each step trains on the oldest ones."""
    return math.ceil(batches_ahead) + 1


def compares_with_rollouts(loss: object, anchor: object) -> bool:  # FIX(CFG009)
    """Whether SkyRL's policy loss uses the log-probs of the rollouts. A loss of the user's own is taken to do so."""
    return loss not in RECOMPUTING_LOSSES or (loss == "cispo" and anchor == "rollout")
