"""The batch size does not divide over the GPUs, the mini batch or the groups.

## What it does
Counts the samples of a step (prompts times rollouts) and divides them over all GPUs; under Megatron over the copies of
the model, which are the GPUs divided by tensor x pipeline x context parallel size. Compares the mini batch with the
train batch. Under prime-rl, divides the batch into groups. With `use_dynamic_bsz`, verl before 0.9 (and later with
`trainer.use_v1=False`) still divides the batch over the copies of the model after the first rollouts, and since 0.8 the mini
batch in the first update. There the mini batch must also divide the train batch. Divides each GPU's part of a mini batch into the actor's micro batches, as verl's FSDP workers do since 0.4; in a RunConfig
into those of the log-probabilities and the critic too, because that trainer leaves out failed rollouts and fills up with padding.

## Why it breaks training
verl rejects the configuration after Ray has started and before the model loads; prime-rl rejects it when it reads the
file. verl checks only in the first update that a mini batch divides over the GPUs. A micro batch that does not divide ends the run at the first update, or many steps later, at the first one that
lost a rollout. A program that is of neither verl nor its recipes may compare the sizes in another way: for it the finding is a warning. So is a mini batch above the train batch where the sources of verl on this machine have no code that compares them. SkyRL asserts that the mini batch divides the batch, and that each rank's part divides into micro batches.

## How to fix
Use the batch size that the finding names, for SkyRL also a mini batch near yours, or another number of rollouts per prompt.

## Example
    AssertionError: real_train_batch_size (9) must be divisible by minimal possible batch size (2)
"""

import dataclasses
import math
from collections.abc import Callable, Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.model import Finding
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.plan.answers import trained_gpus
from skyrl_doctor.plan.dialects.run_config import NAME as RUN_CONFIG
from skyrl_doctor.plan.findings import finding, required
from skyrl_doctor.plan.keys import OTHER_PROGRAM, TAKES_ANY_BATCH, TAKES_LARGER_MINI_BATCH
from skyrl_doctor.plan.model import Plan, Release
from skyrl_doctor.plan.names.skyrl import DIALECT as SKYRL
from skyrl_doctor.plan.parallel import has_unknown_sizes, megatron_models, own_value
from skyrl_train.config.batch import (
    MICRO_BATCHES,
    batch_violations,
    fitted_batch,
    group_violations,
    micro_batch_violations,
    mini_batch_violations,
    remainder_violations,
)
from skyrl_train.config.parallel import data_parallel_size
from skyrl_train.config.releases import Span
from skyrl_train.config.skyrl_batch import skyrl_batch_violations
from skyrl_train.contracts.violation import Violation

CAUSE = "the batch size is not divisible by the number of workers"

KEYS = (
    "data.train_batch_size",
    "rollout.n",
    "actor.ppo_mini_batch_size",
    "actor.micro_batch_size_per_gpu",
    "slurm.gpus_per_node",
    "slurm.nodes",
)

DIVIDE = "The line names both sizes. Change one, so that the second divides the first."

SIGNATURES = (
    Signature(
        pattern=r"train_batch_size is not equal to micro_batch_per_gpu \* gradient_acc_step \* world_size (?P<batch>\d+) != (?P<micro>\d+) \* (?P<steps>\d+) \* (?P<gpus>\d+)",
        sample="AssertionError: Check batch related parameters. train_batch_size is not equal to micro_batch_per_gpu * gradient_acc_step * world_size 64 != 4 * 8 * 1",
        explain="DeepSpeed's train_batch_size {batch} is not {micro} samples per GPU x {steps} accumulation steps x {gpus} processes",
        remedy='Set `train_batch_size` to that product, or to `"auto"` if transformers or accelerate reads the DeepSpeed configuration. If there are more GPUs than {gpus}, the launcher started too few processes: use `deepspeed`, `torchrun` or `accelerate launch`.',
        versions="deepspeed",
    ),
    Signature(
        pattern=r"only support equal (?:chunk|split)(?:\. Got size of DataProto (?P<rows>\d+) and chunk (?P<chunks>\d+))?",
        sample="AssertionError: only support equal chunk. Got size of DataProto 2 and chunk 8.",
        explain="verl cannot divide {rows} samples by {chunks} workers",
        remedy="The samples of a step are the prompts of a batch times the rollouts of each; the workers are the GPUs of the group, or the agent workers. Set `{key:data.train_batch_size}` so that the product divides. In validation, it is the rows of the last validation batch. If some samples were filtered out before, the filter has to keep a multiple of the number of workers.",
        versions="verl",
    ),
    Signature(
        pattern=r"must be divisible by minimal possible batch size",
        sample="AssertionError: real_train_batch_size (6) must be divisible by minimal possible batch size (4)",
        explain="the batch size is not divisible by the number of GPUs",
        remedy="Set `{key:data.train_batch_size}` so that it times the rollouts of a prompt is a multiple of the second number of the line.",
        versions="verl",
    ),
    Signature(
        pattern=r"data size must be divisible by force_group_size \* micro_batch_size_per_gpu",
        sample="AssertionError: data size must be divisible by force_group_size * micro_batch_size_per_gpu",
        explain="the rows of one GPU are not divisible by the micro batch size",
        remedy="Choose a micro batch size for each GPU that divides the rows that it gets: the mini batch times the rollouts of a prompt, divided by the number of GPUs.",
        versions="verl 0.9",
    ),
    Signature(
        pattern=r"\bglobal (?P<which>train|eval) batch size \((?P<processes>\d{1,6}) x (?P<each>\d{1,6})\) must be evenly divisible by the number of generations per prompt \((?P<rollouts>\d{1,6})\)",
        sample="ValueError: The global train batch size (1 x 4) must be evenly divisible by the number of generations per prompt (8).",
        explain="{processes} processes x {each} samples are no multiple of the {rollouts} generations of a prompt",
        remedy="Lower `num_generations`, or raise `per_device_{which}_batch_size` or the number of processes, so that processes x samples is a multiple of `num_generations`. Newer versions of TRL count `gradient_accumulation_steps` too.",
        versions="trl",
    ),
    Signature(
        pattern=r"\bglobal (?P<which>train|eval) batch size \((?P<processes>\d{1,6}) x (?P<each>\d{1,6})\) must be evenly divisible(?! by the number of generations per prompt \()",
        sample="ValueError: The global eval batch size (2 x 8) must be evenly divisible",
        explain="{processes} processes x {each} samples are no multiple of the generations of a prompt",
        remedy="Lower `num_generations`, or raise `per_device_{which}_batch_size` or the number of processes, so that processes x samples is a multiple of `num_generations`.",
        versions="trl, in lines that a terminal has cut",
    ),
    Signature(
        pattern=r"(?i:batch|rollout|DataProto|num_workers|n_gpus|dp_size)[^\n]{0,140}(?:must|should|needs to|has to|is not|not)(?: be)?(?: evenly)? divisible by",
        sample="AssertionError: normalized ppo_mini_batch_size 6 should be divisible by ppo_micro_batch_size_per_gpu 4",
        explain=CAUSE,
        remedy=DIVIDE,
        versions="verl, SkyRL, prime-rl",
    ),
    Signature(
        pattern=r"ppo_\w{1,30} 0 should be larger than 0|[Gg]radient accumulation steps: 0 has to be greater|Either train_batch_size or train_micro_batch_size_per_gpu needs to be provided|needs to be a round multiple of the number of processes|requires at least 2 generations per prompt|length divisible by chunks, but got|must be >= k_partitions|number of items:\[\d+\] < k_partitions|adjust batch_size to be a multiple of|[Bb]atch size \d+ is not divisible|batch_size is not equal to micro_batch|\bgrpo_iterations should be divisible by global_batch_size|\bnumber of sample batches must be greater than or equal to\b|\bbatch_size should be a positive integer value, but got\b|Error: [^\n]{0,80}(?:\b[Mm]ini-?batch(?:es)?\b[^\n]{0,60}\bmust (?:match|divide|equal)|\bmust (?:match|divide|equal) [^\n]{0,60}\b[Mm]ini-?batch)|batch[_ ]size\b.{0,80}(?:must|should|has to) be (?:a multiple of|>=|at least|larger than|greater than)",
        sample="AssertionError: normalized ppo_mini_batch_size 0 should be larger than 0",
        explain=CAUSE,
        remedy="The line names the sizes. A size of 0 was rounded down: a batch is smaller than the number of GPUs that share it.",
        versions="verl",
    ),
    Signature(
        pattern=r"AssertionError: (?P<rows>\d{1,9}) % (?P<ranks>\d{1,6}) != 0",
        sample="AssertionError: 500 % 8 != 0",
        explain="verl cannot balance {rows} samples over {ranks} workers",
        remedy="The samples of a step are the prompts of a batch times the rollouts of each. Set `{key:data.train_batch_size}` so that the product divides.",
        keys=("data.train_batch_size",),
        versions="verl",
        near=r"\bseqlen_balancing\b|\bkarmarkar_karp\b|\b_balance_batch\b|\bget_seqlen_balanced_partitions\b",
        within=30,
    ),
    Signature(
        pattern=r"Got mini_batch_size=(?P<rows>\d+) and \S{0,40}get_data_parallel_size\(\)=(?P<ranks>\d+)",
        sample="AssertionError: Got mini_batch_size=12 and self.engine.get_data_parallel_size()=8",
        explain="a mini batch of {rows} samples does not divide over {ranks} workers",
        remedy="Set `{key:actor.ppo_mini_batch_size}` so that it times the rollouts of a prompt divides.",
        keys=("actor.ppo_mini_batch_size",),
        versions="verl 0.8 and later",
    ),
    Signature(
        pattern=r"(?:^\W{0,8}|\]:? |[-|\"] ?)AssertionError\W*$",
        sample="AssertionError",
        explain="the batch sizes do not match each other",
        versions="verl",
        near=r"assert [^\n]{0,120}batch(?:_?size|es)[^\n]{0,80}(?:%|[<>=]=|>|//)",
        within=3,
    ),
)

TOPIC = Signature(
    pattern=r"(?i)batch\w{0,16}\b.{0,60}\b(?:is no|is not a|isn't a|must be a|not a|no) multiple of\b|batch\w{0,16}\b.{0,60}\b(?:does not|doesn't|cannot be) (?:divide|split|divided)\w*\b",
    sample="ValueError: train_batch_size=10 is no multiple of the 4 data-parallel ranks",
    explain=CAUSE,
    versions="any",
)


SKYRL_DEFAULTS = {
    "data.train_batch_size": 1024,
    "actor.ppo_mini_batch_size": 256,
    "actor.micro_batch_size_per_gpu": 1,
    "actor.sequence_parallel_size": 1,
    "rollout.n": 5,
    "slurm.nodes": 1,
    "slurm.gpus_per_node": 0,
}
"""Without a number of GPUs, whose default differs between versions, only the batch and the mini batch are compared."""
PADS, NEVER = Span("0.9.0"), Span("0", "0")
"""The releases whose trainer fills a batch up."""
DIVIDES_MINI_BATCH = Span("0.8.0")
DIVIDES_MICRO_BATCH = Span("0.4.0")
"""FSDP's workers. Up to 0.7 they compare a micro batch that is set though tokens fill it."""
TOKENS = "trainer.max_tokens_per_microbatch"
PARALLEL = tuple(
    f"trainer.policy.megatron_config.{name}_parallel_size" for name in ("tensor_model", "pipeline_model", "context")
)


@check("CFG002", fix="skyrl_train/config/batch.py")
def batch_not_divisible(plan: Plan) -> Iterator[Finding]:
    judge = (
        _of_skyrl if required(plan).is_of(SKYRL) else _groups if plan.find("data.train_batch_rollouts") else _samples
    )
    violations = list(judge(plan))
    program = own_value(plan, OTHER_PROGRAM)
    if program is None:
        yield from (finding(plan, violation) for violation in violations)
        return
    for violation in violations:
        message = f"{violation.message}; {program.value} may allow it"
        yield finding(plan, dataclasses.replace(violation, message=message, fatal=False))


def _groups(plan: Plan) -> Iterator[Violation]:
    batch, group = plan.integer("data.train_batch_rollouts"), plan.integer("rollout.n")
    if batch is not None and group is not None:
        yield from group_violations(batch=batch, group=group)


def _of_skyrl(plan: Plan) -> Iterator[Violation]:
    """SkyRL's own assertions, with the defaults of its configuration."""
    found = {key: plan.integer(key) for key in SKYRL_DEFAULTS}
    size = {key: default if found[key] is None else found[key] or 0 for key, default in SKYRL_DEFAULTS.items()}
    own = {key: plan.own[key].value for key in PARALLEL if key in plan.own}
    is_megatron = "trainer.strategy" in plan.own and plan.own["trainer.strategy"].value == "megatron"
    shared = math.prod(own.get(key, 1) for key in PARALLEL) if is_megatron else size["actor.sequence_parallel_size"]
    if not isinstance(shared, int) or shared < 1:
        raise CouldNotLook("the sizes of model parallelism are not known")
    yield from skyrl_batch_violations(
        batch=size["data.train_batch_size"],
        mini_batch=size["actor.ppo_mini_batch_size"],
        n=size["rollout.n"],
        ranks=size["slurm.nodes"] * size["slurm.gpus_per_node"] // shared,
        micro=0 if TOKENS in plan.own else size["actor.micro_batch_size_per_gpu"],
    )


def _dynamic(plan: Plan) -> Iterator[Violation]:
    """What verl still divides: its old trainer the batch, and the worker that came with 0.8 the mini batch."""
    if plan.release is None:
        raise NotApplicable(f"{plan.name('actor.dynamic_batch_size')} is on, so tokens fill the micro batches")
    own = {key: plan.own[key].value for key in ("data.gen_batch_size",) if key in plan.own}
    pads = _pads(plan)
    batch, mini, n = (plan.integer(key) for key in ("data.train_batch_size", "actor.ppo_mini_batch_size", "rollout.n"))
    ranks = _parts(plan)[1]
    if batch is not None and n is not None and own.get("data.gen_batch_size") is None:
        violations = batch_violations(batch=batch, n=n, devices=ranks, over=f"{ranks} data-parallel workers")
        yield from _by_release(plan.release, violations, lambda version: not pads.holds(version))
    if mini is not None and TAKES_ANY_BATCH not in plan.own:
        violations = mini_batch_violations(batch=max(batch or mini, mini), mini_batch=mini, n=n or 1, ranks=ranks)
        yield from _by_release(plan.release, violations, DIVIDES_MINI_BATCH.holds)
        yield from _remainder(plan, batch=batch, mini=mini, n=n or 1, ranks=ranks)
        compares = Span(DIVIDES_MICRO_BATCH.since, DIVIDES_MINI_BATCH.since)
        if compares.holds(plan.release.versions[0]):
            yield from _verls_micro(plan, mini=mini, n=n or 1, ranks=ranks, refuses=compares)


def _pads(plan: Plan) -> Span:
    """The releases that fill a batch up: only the V1 trainer does, down to whole mini batches."""
    use_v1 = plan.own.get("trainer.use_v1")
    return NEVER if use_v1 is not None and use_v1.value is False else PADS


def _remainder(plan: Plan, *, batch: int | None, mini: int, n: int, ranks: int) -> Iterator[Violation]:
    """A mini batch that leaves a remainder of the train batch, which the worker of 0.8 and later refuses."""
    generated = plan.own.get("data.gen_batch_size")
    if batch is None or plan.release is None or (generated is not None and generated.value is not None):
        return
    pads = _pads(plan)
    violations = remainder_violations(batch=batch, mini_batch=mini, n=n, ranks=ranks)
    yield from _by_release(
        plan.release, violations, lambda version: DIVIDES_MINI_BATCH.holds(version) and not pads.holds(version)
    )


def _verls_micro(plan: Plan, *, mini: int, n: int, ranks: int, refuses: Span) -> Iterator[Violation]:
    """A micro batch of the actor that does not divide each GPU's part of a mini batch."""
    key = "actor.micro_batch_size_per_gpu"
    size = plan.integer(key)
    if size is None or plan.release is None or ranks < 1 or mini * n % ranks:
        return
    if next(megatron_models(plan), None) is not None:  # its batch is compared with the micro batch
        return
    violations = micro_batch_violations(mini_batch=mini, n=n, ranks=ranks, micro={key: size})
    yield from _by_release(plan.release, violations, refuses.holds)


def _by_release(
    release: Release, violations: Iterator[Violation], refuses: Callable[[str], bool]
) -> Iterator[Violation]:
    """The violations that a release of the run refuses: warnings, with the releases that take it, if not all of them do."""
    refused = [refuses(version) for version in release.versions]
    if any(refused):
        taken = release.taking(refuses)
        for violation in violations:
            yield dataclasses.replace(violation, message=f"{violation.message}{taken}", fatal=all(refused))


def _samples(plan: Plan) -> Iterator[Violation]:
    if plan.flag("actor.dynamic_batch_size"):
        yield from _dynamic(plan)
        return
    batch, n = plan.integer("data.train_batch_size"), plan.integer("rollout.n")
    if batch is None:
        raise NotApplicable("the configuration sets no batch size")
    devices, ranks, over = _parts(plan)
    if n is not None:
        yield from batch_violations(batch=batch, n=n, devices=devices, over=over)
    mini = plan.integer("actor.ppo_mini_batch_size")
    if mini is not None and TAKES_ANY_BATCH not in plan.own:
        fitted = fitted_batch(batch=batch, n=n or 1, devices=devices)
        taken = own_value(plan, TAKES_LARGER_MINI_BATCH)
        taken_by = "" if taken is None else str(taken.value)
        yield from mini_batch_violations(
            batch=batch, mini_batch=mini, n=n or 1, ranks=ranks, fitted=fitted, taken_by=taken_by
        )
        yield from _remainder(plan, batch=batch, mini=mini, n=n or 1, ranks=ranks)
        yield from _verls_micro(plan, mini=mini, n=n or 1, ranks=ranks, refuses=DIVIDES_MICRO_BATCH)
        if plan.is_of(RUN_CONFIG):
            found = {key: plan.integer(key) for key in _micro(plan)}
            micro = {key: size for key, size in found.items() if size is not None}
            yield from micro_batch_violations(mini_batch=mini, n=n or 1, ranks=ranks, micro=micro)


def _parts(plan: Plan) -> tuple[int, int, str]:
    """Into how many parts a batch and a mini batch divide, and the name of the former.

    Under Megatron the GPUs that hold one copy of the model take the same samples, and verl divides the batch by the
    copies times the micro batch.
    """
    trained = next(megatron_models(plan), None)
    if trained is None and has_unknown_sizes(plan):
        raise CouldNotLook("the parallel sizes of Megatron are not known, so the copies of the model are not either")
    if trained is None:
        gpus = trained_gpus(plan)
        return gpus, gpus // (plan.integer("actor.sequence_parallel_size") or 1), ""
    copies = data_parallel_size(trained.gpus, trained.sizes)
    if copies is None:
        raise NotApplicable("the parallel sizes do not divide the GPUs (CFG008)")
    micro = plan.integer("actor.micro_batch_size_per_gpu") or 1
    return copies * micro, copies, f"{copies} copies of the model x micro batches of {micro}"


def _micro(plan: Plan) -> tuple[str, ...]:
    return MICRO_BATCHES if plan.text("algorithm.advantage") == "gae" else MICRO_BATCHES[:-1]
