"""What verl's `separate_async` refuses: rollouts with GPUs of their own need some, and a program that sends them weights (CFG012)."""

from collections.abc import Iterator

from skyrl_train.config.refusals import Own, Refusal, Rule
from skyrl_train.contracts.verl_keys import MODE, OWN_GPUS, OWN_NODES, SENDER, SEPARATE, UPDATES, key_of

BATCH, MINI_BATCH = key_of("data.train_batch_size"), key_of("actor.ppo_mini_batch_size")
MODE_IS = f"{MODE} = {SEPARATE}"


def _gpus(own: Own) -> Iterator[Refusal]:
    for key in (OWN_NODES, OWN_GPUS):
        if own(MODE) == SEPARATE and own(key) is not None and not own(key):
            yield Refusal(key=key, message=f"{key} is 0, but {MODE_IS} needs GPUs for rollouts", settings={key: "1"})


def _sender(own: Own) -> Iterator[Refusal]:
    if own(MODE) == SEPARATE and own(SENDER) == "naive":
        message = f"{SENDER} is naive, which sends no weights to other GPUs, but {MODE_IS} needs that; set it to nccl"
        yield Refusal(key=SENDER, message=message, settings={SENDER: "nccl"})


def _updates(own: Own) -> Iterator[Refusal]:
    """A step is so many mini batches, each of which is an update."""
    updates, mini, batch = own(UPDATES), own(MINI_BATCH), own(BATCH)
    if (
        own(MODE) != SEPARATE
        or not all(type(size) is int for size in (updates, mini, batch))
        or updates * mini == batch
    ):
        return
    yield Refusal(
        key=UPDATES,
        message=f"{UPDATES} = {updates} x {MINI_BATCH} = {mini} is {updates * mini}, but {BATCH} is {batch}; {MODE_IS} "
        "needs the same number",
        settings={UPDATES: str(batch // mini)} if mini and batch % mini == 0 else {},
    )


RULES = (
    Rule((MODE, OWN_NODES, OWN_GPUS), _gpus),
    Rule((MODE, SENDER), _sender),
    Rule((MODE, UPDATES, MINI_BATCH, BATCH), _updates),
)
