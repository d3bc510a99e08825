"""Simulates the forward and backward pass of one micro batch on a tape."""

from skyrl_train.memory.activations import (
    backward_work,
    checkpoint,
    forward_work,
    saved_by_layer,
    saved_by_norm,
)
from skyrl_train.memory.logits import LogitsCost, logits_cost
from skyrl_train.memory.states import Model
from skyrl_train.memory.tape import Component, Tape
from skyrl_train.memory.units import BF16


def _logits(model: Model, tokens: int, *, entropy: bool, train: bool) -> tuple[LogitsCost, LogitsCost]:
    """The cost of the logits, and what the entropy adds to it."""
    if model.value_head:
        return LogitsCost(0), LogitsCost(0)
    plain = logits_cost(model.shape.vocab, model.job, tokens, entropy=False, train=train)
    if not entropy:
        return plain, LogitsCost(0)
    total = logits_cost(model.shape.vocab, model.job, tokens, entropy=True, train=train)
    added = (total.forward - plain.forward, total.kept - plain.kept, total.backward - plain.backward, 0)
    return plain, LogitsCost(*added)


def _logits_of(model: Model, tokens: int) -> float:
    return 0 if model.value_head else tokens * model.shape.vocab * BF16


def _pass(tape: Tape, logits: float, entropy: float, rows: float = 0) -> None:
    """A moment at which these bytes are held in addition to the rest."""
    with tape.held(Component.LOGITS, logits), tape.held(Component.ENTROPY, entropy), tape.held(Component.ROWS, rows):
        pass


def _head(tape: Tape, model: Model, cost: LogitsCost, tokens: int) -> None:
    """The moment of the output map, when its weights are still gathered. Fused kernels do all their work then."""
    logits = cost.forward if model.job.fused_kernels else _logits_of(model, tokens)
    with tape.held(Component.GATHERED, model.root), tape.held(Component.LOGITS, logits):
        pass


def inference(tape: Tape, model: Model, *, entropy: bool, tokens: int | None = None) -> None:
    """Simulates a forward pass of the log-prob micro batch without gradients."""
    tokens = model.log_prob_tokens if tokens is None else tokens
    work = tokens * forward_work(model.shape)
    with tape.held(Component.GATHERED, model.root + model.layer), tape.held(Component.ACTIVATIONS, work):
        pass
    cost, more = _logits(model, tokens, entropy=entropy, train=False)
    _head(tape, model, cost, tokens)
    with tape.held(Component.GATHERED, model.root if model.root_stays else 0):
        _pass(tape, cost.forward, more.forward)


def forward(tape: Tape, model: Model) -> None:
    """Simulates the forward pass; what the backward pass needs stays on the tape."""
    tokens, shape = model.tokens, model.shape
    kept = tokens * checkpoint(shape) * _layers_on_gpu(model)
    if model.job.gradient_checkpointing:
        tape.take(Component.CHECKPOINTS, kept)
    else:
        tape.take(Component.ACTIVATIONS, tokens * saved_by_layer(shape, model.job) * model.held_layers)
    tape.take(Component.ACTIVATIONS, tokens * saved_by_norm(shape))
    cost, more = _logits(model, tokens, entropy=model.job.entropy, train=True)
    _head(tape, model, cost, tokens)
    tape.take(Component.GATHERED, model.root if model.root_stays else 0)
    _pass(tape, cost.forward - cost.rows, more.forward, cost.rows)
    tape.take(Component.LOGITS, cost.kept - cost.rows)
    tape.take(Component.ROWS, cost.rows)
    tape.take(Component.ENTROPY, more.kept)


def _layers_on_gpu(model: Model) -> int:
    """The layers whose checkpoint is on the GPU; with activation off-loading, the one in use and the next."""
    return min(2, model.held_layers) if model.job.activation_offload else model.held_layers


def backward(tape: Tape, model: Model, *, accumulated: bool) -> None:
    """Simulates the backward pass; releases what the forward pass left."""
    cost, more = _logits(model, model.tokens, entropy=model.job.entropy, train=True)
    _pass(tape, cost.backward - cost.kept, more.backward - more.kept)
    tape.give_all(Component.ENTROPY)
    tape.give_all(Component.LOGITS)
    tape.give_all(Component.ROWS)
    frozen = model.job.lora_rank > 0
    _gather_root(tape, model)
    with tape.held(Component.GRADIENTS, 0 if frozen else model.head):
        # the head's gradient is computed from that of the logits
        _pass(tape, cost.backward if model.job.fused_kernels else _logits_of(model, model.tokens), 0)
        tape.give(Component.ACTIVATIONS, model.tokens * saved_by_norm(model.shape))
        _backward_layers(tape, model, accumulated=accumulated)
    if not frozen:
        _root_gradients(tape, model, accumulated=accumulated)
    tape.give_all(Component.GATHERED)
    if frozen and not accumulated and model.job.strategy != "megatron":
        tape.take(Component.GRADIENTS, model.gradients)


def _gather_root(tape: Tape, model: Model) -> None:
    tape.give_all(Component.GATHERED)
    tape.take(Component.GATHERED, model.root)


def _backward_layers(tape: Tape, model: Model, *, accumulated: bool) -> None:
    """Simulates the first and the last layer. In between, each layer releases and adds the same amounts, so the peak is at
    one of the two."""
    between = model.held_layers - 2
    _backward_layer(tape, model, last=between < 0, accumulated=accumulated)
    if between < 0:
        return
    if model.job.gradient_checkpointing:
        on_gpu = max(0, _layers_on_gpu(model) - 2)
        tape.give(Component.CHECKPOINTS, on_gpu * model.tokens * checkpoint(model.shape))
    else:
        tape.give(Component.ACTIVATIONS, between * model.tokens * saved_by_layer(model.shape, model.job))
    if not model.job.lora_rank and not accumulated:
        tape.take(Component.GRADIENTS, between * in_master(model, model.layer) / model.job.shards)
    _backward_layer(tape, model, last=True, accumulated=accumulated)


def _backward_layer(tape: Tape, model: Model, *, last: bool, accumulated: bool) -> None:
    tokens, shape, checkpointed = model.tokens, model.shape, model.job.gradient_checkpointing
    saved = tokens * saved_by_layer(shape, model.job)
    # BackwardPrefetch.BACKWARD_PRE gathers the next unit before this one is done; one rank gathers nothing.
    units = 1 if last or model.job.shards == 1 else 2
    # FSDP2 keeps what the layer before gave to reduce until this one is reduced (_fsdp_param_group.py ReduceScatterState)
    reducing = in_master(model, model.layer) if last and _is_fsdp2(model) and not model.job.lora_rank else 0
    with tape.held(Component.GATHERED, units * model.layer), tape.held(Component.GRADIENTS, reducing):
        if checkpointed:
            tape.take(Component.ACTIVATIONS, saved)
        with tape.held(Component.ACTIVATIONS, tokens * backward_work(shape, model.job)):
            pass
        tape.give(Component.ACTIVATIONS, saved)
        if not model.job.lora_rank:
            with tape.held(Component.GRADIENTS, 2 * model.layer):  # each map's, and all of them flattened
                pass
    if checkpointed:
        tape.give(Component.CHECKPOINTS, tokens * checkpoint(shape))
    if not model.job.lora_rank:
        _unit_gradients(tape, model, model.layer, accumulated=accumulated)


def _is_fsdp2(model: Model) -> bool:
    return model.job.strategy == "fsdp2"


def in_master(model: Model, unit: float) -> float:
    """A gathered unit's gradient in the precision of the master weights."""
    return unit / model.compute * model.master


def _unit_gradients(tape: Tape, model: Model, unit: float, *, accumulated: bool) -> None:
    """Simulates a unit's gradient: cast to the master precision, reduced, and kept as this rank's share.

    With shards it is reduced from a buffer to a shard; FSDP2 does so on one rank too (_fsdp_collectives.py
    foreach_reduce), and adds the shard to the one that is there. FSDP1 alone on a rank adds in place.
    """
    cast, separate = in_master(model, unit), model.job.shards > 1 or _is_fsdp2(model)
    shard = cast / model.job.shards
    with tape.held(Component.GRADIENTS, unit + (cast + shard * accumulated if separate else 0)):
        tape.take(Component.GRADIENTS, 0 if accumulated else shard)


def _root_gradients(tape: Tape, model: Model, *, accumulated: bool) -> None:
    """Simulates the embedding's gradient, which comes last: with the head's, added to it if the two are tied, flattened."""
    if model.job.strategy == "megatron":
        return
    embedding = model.shape.vocab * model.shape.hidden * model.compute
    pieces = 3 * embedding if model.shape.tied and not model.value_head else embedding + model.head + model.root
    with tape.held(Component.GRADIENTS, pieces):
        pass
    tape.give_all(Component.GATHERED)
    _unit_gradients(tape, model, model.root, accumulated=accumulated)
