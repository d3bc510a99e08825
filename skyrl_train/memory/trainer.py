"""The phases of a trainer rank, played on a tape in the order of verl's own code.

Resident: what stays between phases. Everything else is taken where verl takes it and given back where verl gives it back.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum

from skyrl_train.memory.activations import backward_work, checkpoint, saved_by_layer
from skyrl_train.memory.job import Job
from skyrl_train.memory.logits import logits_cost
from skyrl_train.memory.shape import ModelShape
from skyrl_train.memory.states import States, states_of
from skyrl_train.memory.tape import Component, Tape


class Phase(StrEnum):
    """A part of a run, in the order in which it comes."""

    LOAD = "load"
    ROLLOUT = "rollout"
    LOG_PROB = "log-prob"
    UPDATE_FIRST = "update step 1"
    UPDATE = "update step 2 and after"
    WEIGHT_SYNC = "weight sync"
    CHECKPOINT = "checkpoint"


def trainer_phases(shape: ModelShape, job: Job) -> dict[Phase, Mapping[Component, int]]:
    """What one trainer rank has allocated at the fullest moment of each phase."""
    states = states_of(shape, job)
    players: dict[Phase, Callable[[Tape], None]] = {
        Phase.LOAD: lambda tape: _load(tape, states),
        Phase.ROLLOUT: lambda tape: _rest(tape, states, job),
        Phase.LOG_PROB: lambda tape: _log_prob(tape, states, shape, job),
        Phase.UPDATE_FIRST: lambda tape: _update(tape, states, shape, job, adam_before=False),
        Phase.UPDATE: lambda tape: _update(tape, states, shape, job, adam_before=True),
        Phase.WEIGHT_SYNC: lambda tape: _weight_sync(tape, states, job),
        Phase.CHECKPOINT: lambda tape: _rest(tape, states, job),
    }
    return {phase: _played(play) for phase, play in players.items()}


def _played(play: Callable[[Tape], None]) -> Mapping[Component, int]:
    tape = Tape()
    play(tape)
    return tape.peak


def _load(tape: Tape, states: States) -> None:
    tape.take(Component.WEIGHTS, states.weights + states.load_copy)


def _rest(tape: Tape, states: States, job: Job, *, adam: bool = True) -> None:
    """What stays on the GPU between phases."""
    if not job.param_offload:
        tape.take(Component.WEIGHTS, states.weights)
        tape.take(Component.ADAPTERS, states.adapters)
    if adam and not job.optimizer_offload:
        tape.take(Component.OPTIMIZER, states.optimizer)
    tape.take(Component.CRITIC, states.critic_at_rest)


def _present(tape: Tape, states: States, job: Job, *, adam: bool) -> None:
    """As at rest, with what was offloaded back on the GPU: verl loads it before every phase that computes."""
    _rest(tape, states, job, adam=False)
    if job.param_offload and not job.offload_policy:
        tape.take(Component.WEIGHTS, states.weights)
        tape.take(Component.ADAPTERS, states.adapters)
    if adam:
        tape.take(Component.OPTIMIZER, states.optimizer)


def _log_prob(tape: Tape, states: States, shape: ModelShape, job: Job) -> None:
    _present(tape, states, job, adam=not job.optimizer_offload)
    tokens = job.tokens(job.log_prob_micro_batch, job.log_prob_max_tokens)
    tape.take(Component.GATHERED, states.gathered)
    tape.take(Component.ACTIVATIONS, tokens * (backward_work(shape) + 2 * checkpoint(shape)))
    tape.give_all(Component.ACTIVATIONS)
    cost = logits_cost(shape, job, tokens, entropy=True, train=False)
    tape.take(Component.LOGITS, cost.forward)
    tape.take(Component.ENTROPY, cost.entropy_forward)


def _update(tape: Tape, states: States, shape: ModelShape, job: Job, *, adam_before: bool) -> None:
    _present(tape, states, job, adam=adam_before)
    tokens = job.tokens(job.micro_batch, job.max_tokens)
    sequences = job.mini_batch * job.n // job.n_gpus
    if sequences > job.micro_batch:
        tape.take(Component.GRADIENTS, states.gradients)  # of the micro batches before
    layer = tokens * saved_by_layer(shape, job, job.longest)
    tape.take(Component.GATHERED, states.gathered)
    if job.gradient_checkpointing:
        tape.take(Component.CHECKPOINTS, tokens * shape.layers * checkpoint(shape))
    else:
        tape.take(Component.ACTIVATIONS, shape.layers * layer)
    cost = logits_cost(shape, job, tokens, entropy=job.entropy, train=True)
    with tape.held(Component.LOGITS, cost.forward), tape.held(Component.ENTROPY, cost.entropy_forward):
        pass
    with tape.held(Component.LOGITS, cost.backward):
        pass
    if sequences <= job.micro_batch:
        tape.take(Component.GRADIENTS, states.gradients)
    tape.take(Component.ACTIVATIONS, tokens * backward_work(shape) + (layer if job.gradient_checkpointing else 0))
    for component in (Component.ACTIVATIONS, Component.CHECKPOINTS, Component.GATHERED):
        tape.give_all(component)
    if not adam_before:
        tape.take(Component.OPTIMIZER, states.optimizer)
    tape.take(Component.OPTIMIZER_WORK, states.optimizer_work)


def _weight_sync(tape: Tape, states: States, job: Job) -> None:
    _rest(tape, states, job)
    if job.param_offload:
        tape.take(Component.WEIGHTS, states.weights)
    tape.take(Component.STATE_DICT, states.state_dict_copy)
    tape.take(Component.BUCKET, job.rollout.bucket_mib * 1024**2 if job.rollout else 0)
