"""The rules between the settings of a RunConfig. Each yields all its violations.

Pydantic is not imported: any object with RunConfig's attributes can be checked.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from skyrl_train.config import adapter, asynchronous, batch, context, offload, rollout_gpus, slots, walltime
from skyrl_train.contracts.verl_keys import SEPARATE
from skyrl_train.contracts.violation import Violation

if TYPE_CHECKING:
    from skyrl_train.config.run import RunConfig


def violations(config: "RunConfig") -> tuple[Violation, ...]:
    """The violations of all rules."""
    return tuple(violation for rule in RULES for violation in rule(config))


def context_fits(config: "RunConfig") -> Iterator[Violation]:
    data, rollout = config.data, config.rollout
    of_call = tuple(
        context.call_violations(
            max_tokens=rollout.max_tokens,
            max_model_len=rollout.max_model_len,
            prompt_tokens=data.max_prompt_tokens,
            prompt_source="data.max_prompt_tokens",
            clamped=True,
            response_tokens=data.max_response_tokens,
        )
    )
    yield from of_call
    if any(violation.key == "rollout.max_model_len" for violation in of_call):
        return  # its value has room for the whole rollout
    yield from context.trajectory_violations(
        prompt_tokens=data.max_prompt_tokens,
        response_tokens=data.max_response_tokens,
        max_model_len=rollout.max_model_len,
    )


def note_comes_late(config: "RunConfig") -> Iterator[Violation]:
    note, total = config.agent.budget_note_tokens, config.data.max_response_tokens
    if context.note_is_always_on(response_tokens=total, note_tokens=note):
        yield Violation(
            key="agent.budget_note_tokens",
            message=f"the note that few tokens are left appears below {note} of {total} tokens, so always; use less than {total}",
            settings={"agent.budget_note_tokens": str(total // 8)},
            fatal=False,
        )


def batch_divides(config: "RunConfig") -> Iterator[Violation]:
    if not config.actor.dynamic_batch_size:
        size, n = config.data.train_batch_size, config.rollout.n
        ranks = _devices(config) // config.actor.sequence_parallel_size
        yield from batch.batch_violations(batch=size, n=n, devices=_devices(config))
        yield from batch.mini_batch_violations(
            batch=size,
            mini_batch=config.actor.ppo_mini_batch_size,
            n=n,
            ranks=ranks,
            fitted=batch.fitted_batch(batch=size, n=n, devices=_devices(config)),
        )
        sizes = (
            config.actor.micro_batch_size_per_gpu,
            config.rollout.log_prob_micro_batch_size_per_gpu,
            *((config.critic.micro_batch_size_per_gpu,) if config.needs_critic else ()),
        )
        micro = dict(zip(batch.MICRO_BATCHES, sizes, strict=False))
        mini = config.actor.ppo_mini_batch_size
        yield from batch.micro_batch_violations(mini_batch=mini, n=n, ranks=ranks, micro=micro)


def server_fits_node(config: "RunConfig") -> Iterator[Violation]:
    size, devices = config.rollout.tensor_parallel_size, _devices(config)
    if (parts := _split(config)) is not None:
        yield from rollout_gpus.server_violations(parts=parts, tensor_parallel=size)
    elif devices % size:
        yield Violation(
            key="rollout.tensor_parallel_size",
            message=f"{devices} GPUs do not divide into model servers of {size} GPUs",
            settings={"rollout.tensor_parallel_size": "1"},
        )


def slots_suffice(config: "RunConfig") -> Iterator[Violation]:
    if config.sandbox.runtime_url is not None:
        return
    jobs, sandbox = config.slurm, config.sandbox
    yield from slots.slot_violations(
        slots=min(
            slots.worker_slots(
                cpus=jobs.runtime_cpus, reserved_cpus=sandbox.reserved_cpus, cpus_per_sandbox=sandbox.cpus
            ),
            slots.memory_slots(memory_mib=jobs.runtime_memory_mib, memory_per_sandbox_mib=sandbox.memory_mib),
        ),
        batch=config.data.train_batch_size,
        n=config.rollout.n,
        parallel=config.agent.max_parallel,
    )


def runtime_outlives_trainer(config: "RunConfig") -> Iterator[Violation]:
    if config.sandbox.runtime_url is None:
        yield from walltime.walltime_violations(
            trainer=config.slurm.trainer_time_limit, runtime=config.slurm.runtime_time_limit
        )


def offload_goes_with_adapter(config: "RunConfig") -> Iterator[Violation]:
    if offload.moves_adapter_to_cpu(cpu_offload=config.actor.cpu_offload, lora=config.model.lora_rank > 0):
        yield Violation(
            key="actor.cpu_offload",
            message=f"cpu_offload with a LoRA adapter (rank {config.model.lora_rank}) mixes tensors on the CPU and on the GPU; use param_offload instead",
            settings={"actor.cpu_offload": "false"},
        )


def adapter_arrives(config: "RunConfig") -> Iterator[Violation]:
    if adapter.arrives_empty(strategy=config.actor.strategy, lora=config.model.lora_rank > 0):
        yield Violation(
            key="actor.strategy",
            message=f"strategy fsdp with a LoRA adapter (rank {config.model.lora_rank}) sends vLLM an adapter without "
            "tensors, and the run hangs; use fsdp2",
            settings={"actor.strategy": "fsdp2"},
        )


def packing_has_its_kernel(config: "RunConfig") -> Iterator[Violation]:
    if config.model.remove_padding and config.model.attention != "flash_attention_2":
        yield Violation(
            key="model.remove_padding",
            message=f"remove_padding needs flash_attention_2, but attention is {config.model.attention}",
            settings={"model.remove_padding": "false"},
        )


def resume_names_its_checkpoint(config: "RunConfig") -> Iterator[Violation]:
    if (config.trainer.resume == "path") == (config.trainer.resume_from is not None):
        return
    yield Violation(
        key="trainer.resume_from",
        message=f"resume is {config.trainer.resume!r} and resume_from is {config.trainer.resume_from!r}; set resume_from if and only if resume = 'path'",
    )


def rollouts_may_age(config: "RunConfig") -> Iterator[Violation]:
    trainer = config.trainer
    if trainer.mode == "sync":
        return
    least = asynchronous.fewest_steps(trainer.batches_ahead)
    if trainer.max_staleness < least:
        yield Violation(
            key="trainer.max_staleness",
            message=f"with {trainer.batches_ahead:g} batches ahead, a rollout takes part in up to {least} steps even if none is late, "
            f"but max_staleness is {trainer.max_staleness}: each step would wait for all rollouts",
            settings={"trainer.max_staleness": str(least + 1)},
        )
    if trainer.deterministic:
        yield Violation(
            key="trainer.deterministic",
            message=f"with mode = {trainer.mode!r} the order in which rollouts end decides what a step trains on, so two runs differ",
            settings={"trainer.deterministic": "false"},
        )


def rollouts_have_their_gpus(config: "RunConfig") -> Iterator[Violation]:
    trainer, data = config.trainer, config.data
    yield from rollout_gpus.split_violations(
        mode=trainer.mode,
        nodes=config.slurm.nodes,
        gpus_per_node=config.slurm.gpus_per_node,
        rollout_gpus=trainer.rollout_gpus,
    )
    if trainer.mode == SEPARATE:
        yield from rollout_gpus.update_violations(
            batch=data.train_batch_size, mini_batch=config.actor.ppo_mini_batch_size
        )


def parser_has_its_switch(config: "RunConfig") -> Iterator[Violation]:
    if config.rollout.auto_tool_choice and config.rollout.tool_call_parser is None:
        yield Violation(
            key="rollout.tool_call_parser", message="auto_tool_choice needs a tool_call_parser, which is not set"
        )


def _devices(config: "RunConfig") -> int:
    """The GPUs that train."""
    parts = _split(config)
    return config.slurm.nodes * config.slurm.gpus_per_node if parts is None else parts.trainer_devices


def _split(config: "RunConfig") -> rollout_gpus.Split | None:
    return rollout_gpus.split_of(
        mode=config.trainer.mode,
        nodes=config.slurm.nodes,
        gpus_per_node=config.slurm.gpus_per_node,
        rollout_gpus=config.trainer.rollout_gpus,
    )


TOLD_APART = (
    context_fits,
    note_comes_late,
    batch_divides,
    slots_suffice,
    runtime_outlives_trainer,
    offload_goes_with_adapter,
    adapter_arrives,
    parser_has_its_switch,
)
"""Rules that have a check of their own (CFG001, AGT020, CFG002, RUN005, SLM001, TRN003, TRN007, CFG006)."""
TOLD_TOGETHER = (
    server_fits_node,
    packing_has_its_kernel,
    resume_names_its_checkpoint,
    rollouts_may_age,
    rollouts_have_their_gpus,
)
"""Rules that CFG004 reports."""
RULES = (*TOLD_APART, *TOLD_TOGETHER)
