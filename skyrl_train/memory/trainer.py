"""Simulates the phases of a trainer rank on a tape, in the order of verl's code.

verl 0.9.1: workers/engine/fsdp/transformer_impl.py (forward_backward_batch, optimizer_step, get_per_tensor_param),
workers/engine/base.py BaseEngineCtx (what is loaded for which phase), trainer/ppo/v1/trainer_base.py _step_once.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import StrEnum
from functools import lru_cache

from skyrl_train.memory.job import Job, Rollout
from skyrl_train.memory.micro_batch import backward, forward, in_master, inference
from skyrl_train.memory.shape import ModelShape
from skyrl_train.memory.states import Model
from skyrl_train.memory.tape import Component, Played, Tape
from skyrl_train.memory.trained import actor_of, critic_of
from skyrl_train.memory.units import MIB

# aten/src/ATen/cuda/CublasHandlePool.cpp: 32 MiB for cuBLAS on compute capability 9, as much for cuBLASLt
WORKSPACE = 64 * MIB


class Phase(StrEnum):
    """The phases of a run, in order."""

    LOAD = "load"
    ROLLOUT = "rollout"
    LOG_PROB = "log-prob"
    REFERENCE = "reference log-prob"
    VALUES = "critic values"
    CRITIC_UPDATE = "critic update"
    UPDATE_FIRST = "update step 1"
    UPDATE = "update step 2 and after"
    WEIGHT_SYNC = "weight sync"
    CHECKPOINT = "checkpoint"


WITHOUT_TRAINING = (Phase.LOAD, Phase.ROLLOUT, Phase.WEIGHT_SYNC)


def trainer_phases(shape: ModelShape, job: Job) -> Mapping[Phase, Played]:
    """The allocations of one trainer rank at the peak of each phase."""
    rollout = job.rollout and Rollout(
        bucket_mib=job.rollout.bucket_mib
    )  # the trainer's phases depend on nothing else of vLLM
    return _trainer_phases(shape, replace(job, rollout=rollout))


@lru_cache(maxsize=16)
def _trainer_phases(shape: ModelShape, job: Job) -> Mapping[Phase, Played]:
    actor, critic = actor_of(shape, job), critic_of(shape, job)
    players: dict[Phase, Callable[[Tape], None]] = {
        Phase.LOAD: lambda tape: _load(tape, actor, critic),
        Phase.ROLLOUT: lambda tape: _rest(tape, actor),
        Phase.LOG_PROB: lambda tape: _log_prob(tape, actor),
        Phase.UPDATE_FIRST: lambda tape: _update(tape, actor, adam_before=False),
        Phase.UPDATE: lambda tape: _update(tape, actor, adam_before=True),
        Phase.WEIGHT_SYNC: lambda tape: _weight_sync(tape, actor),
        Phase.CHECKPOINT: lambda tape: _checkpoint(tape, actor),
    }
    if job.framework != "verl":  # prime-rl trains on the rollout's own log-probs
        del players[Phase.LOG_PROB]
    if job.framework == "sft":
        del players[Phase.ROLLOUT], players[Phase.WEIGHT_SYNC]
    if job.reference:
        players[Phase.REFERENCE] = lambda tape: _reference(tape, actor)
    if critic is not None:
        players[Phase.VALUES] = lambda tape: _log_prob(tape, critic)
        players[Phase.CRITIC_UPDATE] = lambda tape: _update(tape, critic, adam_before=True)
    if job.val_only:
        players = {phase: play for phase, play in players.items() if phase in WITHOUT_TRAINING}
    waiting = {Phase.LOAD: None, Phase.VALUES: actor, Phase.CRITIC_UPDATE: actor}
    return {
        phase: _played(players[phase], waiting.get(phase, critic), _roots_left(phase, actor))
        for phase in Phase
        if phase in players
    }


def _roots_left(phase: Phase, actor: Model) -> Mapping[Component, float]:
    """The gathered roots of models at rest: the actor's from its log-probs to its update, the reference's in every phase.

    FSDP1 keeps the root after a forward pass, and the reference has no backward pass that releases it.
    """
    waits = (Phase.REFERENCE, Phase.VALUES, Phase.CRITIC_UPDATE)
    own = _own_reference(actor)
    actors = phase in waits and (own or phase is not Phase.REFERENCE)
    references = own and phase not in (Phase.LOAD, Phase.REFERENCE) and not actor.job.val_only
    return {Component.OTHER: actor.root_left * actors, Component.REFERENCE: actor.root_left * references}


def _own_reference(model: Model) -> bool:
    """Whether the reference is a model of its own; with LoRA it is the actor without its adapters."""
    return model.job.reference and not model.job.lora_rank


def _played(play: Callable[[Tape], None], waiting: Model | None, roots: Mapping[Component, float]) -> Played:
    """Simulates one phase while the other models of the process wait."""
    tape = Tape()
    tape.take(Component.WORKSPACE, WORKSPACE)
    for part, size in roots.items():
        tape.take(part, size)
    if waiting is not None:
        tape.take(Component.OTHER, waiting.at_rest)
    play(tape)
    return tape.played


def _load(tape: Tape, model: Model, critic: Model | None) -> None:
    """Loads critic, reference and actor. FSDP1 moves off-loaded weights to the host only after their first use; the shards of
    a reference (CPUOffload) are there when it is loaded."""
    tape.give_all(Component.WORKSPACE)
    tape.take(Component.OTHER, critic.weights if critic is not None else 0)
    on_gpu = _own_reference(model) and model.job.strategy != "fsdp2" and not model.root_stays
    tape.take(Component.REFERENCE, model.weights if on_gpu else 0)
    tape.take(Component.WEIGHTS, model.weights)
    tape.take(Component.ADAPTERS, model.adapters)
    tape.take(Component.GATHERED, model.load_work)


def _rest(tape: Tape, model: Model) -> None:
    """What stays on the GPU while vLLM runs."""
    if not model.param_offload or model.keeps_stale_copy:
        tape.take(Component.WEIGHTS, model.weights)
        tape.take(Component.ADAPTERS, model.adapters)
    if not model.optimizer_offload:
        tape.take(Component.OPTIMIZER, model.optimizer)
    if model.job.strategy == "megatron" and not model.job.grad_offload:
        tape.take(Component.GRADIENTS, model.gradients)


def _present(tape: Tape, model: Model, *, adam: bool) -> None:
    """Loads the parameters for a computing phase, and Adam's states only if `adam`."""
    tape.take(Component.WEIGHTS, model.weights)
    tape.take(Component.ADAPTERS, model.adapters)
    if adam:
        tape.take(Component.OPTIMIZER, model.optimizer)


def _log_prob(tape: Tape, model: Model) -> None:
    _present(tape, model, adam=not model.optimizer_offload)
    if model.keeps_stale_copy:  # parameters are loaded while the modules still hold the old ones until their first use
        with tape.held(Component.WEIGHTS, model.weights), tape.held(Component.GATHERED, model.root + model.layer):
            pass
    inference(tape, model, entropy=model.job.log_prob_entropy)


def _reference(tape: Tape, model: Model) -> None:
    """The reference stays on the host and is loaded unit by unit; with LoRA it is the actor without its adapters."""
    if model.job.lora_rank:
        _present(tape, model, adam=not model.optimizer_offload)
        inference(tape, model, entropy=False, tokens=model.reference_tokens)
        return
    if not model.param_offload:
        tape.take(Component.WEIGHTS, model.weights)
    if not model.optimizer_offload:
        tape.take(Component.OPTIMIZER, model.optimizer)
    _reference_units(tape, model)
    inference(tape, model, entropy=False, tokens=model.reference_tokens)


def _reference_units(tape: Tape, model: Model) -> None:
    """The largest units that arrive from the host. With shards two layers do at a time (_limiter_utils.py), beside the root."""
    if not model.root_stays:
        with tape.held(Component.REFERENCE, model.reference_unit), tape.held(Component.GATHERED, model.root):
            pass
        return
    if not model.root_left:
        with tape.held(Component.REFERENCE, model.arriving(model.root)), tape.held(Component.GATHERED, model.root):
            pass
    arriving = tape.held(Component.REFERENCE, 2 * model.arriving(model.layer))
    with arriving, tape.held(Component.GATHERED, model.root + 2 * model.layer):
        pass


def _update(tape: Tape, model: Model, *, adam_before: bool) -> None:
    adam_before = adam_before or model.updates > 1
    _present(tape, model, adam=adam_before)
    if model.job.strategy == "megatron":  # its gradients have one buffer, made with the model
        tape.take(Component.GRADIENTS, model.gradients)
    forward(tape, model)
    backward(tape, model, accumulated=False)
    if model.micro_batches > 1:
        forward(tape, model)
        backward(tape, model, accumulated=True)
    if not adam_before:
        tape.take(Component.OPTIMIZER, model.optimizer)
    tape.take(Component.OPTIMIZER_WORK, model.optimizer_work)


def _weight_sync(tape: Tape, model: Model) -> None:
    """get_per_tensor_param: loads the parameters, makes a state dict, and sends it to vLLM bucket by bucket.

    FSDP2 leaves off-loaded parameters on the host and loads one tensor at a time.
    """
    by_tensor = model.param_offload and model.job.strategy == "fsdp2" and not model.job.lora_rank
    if by_tensor:
        tape.take(Component.OPTIMIZER, 0 if model.optimizer_offload else model.optimizer)
    else:
        _present(tape, model, adam=not model.optimizer_offload)
    gathered = tape.held(Component.GATHERED, model.gathered_for_adapters)
    cut = tape.held(Component.STATE_DICT, model.cut_for_adapters)
    with tape.held(Component.SUMMONED, model.summoned):
        if model.job.layered_summon:  # the gathered units are on the host before anything is cut
            with gathered:
                pass
            with cut:
                pass
        else:
            with gathered, cut:
                pass
    tape.take(Component.STATE_DICT, 0 if model.job.lora_rank else model.cloned)
    rollout = model.job.rollout if model.job.framework == "verl" else None
    tape.take(Component.BUCKET, rollout.bucket_mib * MIB if rollout is not None else 0)
    sends_shards = model.job.shards > 1 and not model.job.lora_rank
    tape.take(Component.STATE_DICT, model.largest_tensor if by_tensor or sends_shards else 0)


def _checkpoint(tape: Tape, model: Model) -> None:
    """fsdp_checkpoint_manager.save_checkpoint: FSDP1 on one rank clones before off-loading, FSDP2 does not.

    On several ranks FSDP1 gathers the root and one layer in full precision, and each cut tensor goes to the host
    (ShardedStateDictConfig with offload_to_cpu; _state_dict_utils.py _sharded_post_state_dict_hook).
    """
    _present(tape, model, adam=not model.optimizer_offload)
    if model.job.strategy == "fsdp" and model.job.shards > 1:
        tape.take(Component.GATHERED, in_master(model, model.root + model.layer))
    else:
        tape.take(Component.STATE_DICT, model.cloned)
