"""Asynchronous training refuses a combination of settings when it starts.

## What it does
Compares the settings of verl's fully asynchronous trainer, of SkyRL's, and of prime-rl with what each asserts at its
start: batch sizes, numbers of workers and requests in flight, staleness, shared GPUs, and how weights are sent. Of SkyRL's
also dynamic sampling, the filter that full batches need, and, as a warning, the policy losses that SkyRL refuses since 0.3.

## Why it breaks training
The trainer stops with an assertion, after the queue and after the models are loaded.

## How to fix
Use the values in the finding.

## Example
    AssertionError: Invalid num_parallel_generation_workers, the following must hold: ...
    ValueError: LoRA training is not yet supported with in-memory weight broadcast.
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.plan.answers import TODAYS_PRIME
from skyrl_doctor.plan.findings import config_finding, required
from skyrl_doctor.plan.keys import OTHER_PROGRAM
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.plan.parallel import own_integer, own_value
from skyrl_train.config.asynchronous import compares_with_rollouts, fits_staleness, worker_range

CAUSE = "asynchronous training refuses this combination of settings"

SIGNATURES = (
    Signature(
        pattern=r"Invalid num_parallel_generation_workers|train_batch_size must be zero|gen_batch_size must be one|must equal policy_mini_batch_size for fully async|colocate_all is not supported for async|must rollout calculate log_probs|dynamic sampling is not supported for fully async|sample_full_batch=True requires|Fully async training should use rollout logprobs",
        sample="AssertionError: train_batch_size must be zero",
        explain=CAUSE,
        versions="verl, SkyRL",
    ),
    Signature(
        pattern=r"LoRA training is not yet supported with in-memory weight broadcast|NCCL weight broadcast requires at least 2 GPUs|concurrency\.\w+ must be at least the number of rollouts per example",
        sample="ValueError: LoRA training is not yet supported with in-memory weight broadcast. Set weight_broadcast.type = 'filesystem'.",
        explain=CAUSE,
        versions="prime-rl",
    ),
)

_VERL = (
    ("actor_rollout_ref.hybrid_engine", False),
    ("data.train_batch_size", 0),
    ("data.gen_batch_size", 1),
    ("actor_rollout_ref.rollout.calculate_log_probs", True),
)
"""What verl's fully asynchronous trainer asserts, by key."""
_SKYRL = (
    ("trainer.placement.colocate_all", False),
    ("generator.batched", False),
)
_SAMPLING, _LOSS = "trainer.algorithm.dynamic_sampling.type", "trainer.algorithm.policy_loss_type"
_FULL, _FILTER = "trainer.fully_async.sample_full_batch", "trainer.algorithm.zero_variance_filter"


@check("CFG009", fix="skyrl_train/config/asynchronous.py")
def async_settings_refused(plan: Plan) -> Iterator[Finding]:
    if "async_training.staleness_threshold" in required(plan).own:
        yield from _expected(plan, _VERL)
        yield from _at_least(plan, "async_training.staleness_threshold", 0)
        yield from _at_least(plan, "async_training.trigger_parameter_sync_step", 1)
    elif _is_on(plan, "trainer.fully_async.enabled"):
        yield from _expected(plan, _SKYRL)
        yield from _workers(plan)
        yield from _samples(plan)
        yield from _loss(plan)
    elif plan.is_of(TODAYS_PRIME):
        yield from _prime(plan)
    else:
        raise NotApplicable("the configuration does not train asynchronously")


def _is_on(plan: Plan, key: str) -> bool:
    found = own_value(plan, key)
    return found is not None and found.value is True


def _expected(plan: Plan, rows: tuple[tuple[str, object], ...]) -> Iterator[Finding]:
    """What differs. A file without a command may get a default's right value from the command line: a warning."""
    for key, value in rows:
        found = own_value(plan, key)
        if found is not None and found.value != value:
            text = str(value)
            message = f"{found.assignment}, but this asynchronous trainer needs {text}"
            severity = Severity.ERROR if found.written or "python.launcher" in plan.values else Severity.WARNING
            yield config_finding(message, found.location or plan.place(key), {key: text}, severity=severity)


def _at_least(plan: Plan, key: str, least: int) -> Iterator[Finding]:
    found = own_value(plan, key)
    if found is not None and isinstance(found.value, int | float) and found.value < least:
        yield config_finding(f"{found.assignment}; expected at least {least}", found.location)


def _workers(plan: Plan) -> Iterator[Finding]:
    """SkyRL: the batch is one mini batch, and the workers fill it without being too far ahead."""
    mini, batch = own_integer(plan, "trainer.policy_mini_batch_size"), own_integer(plan, "trainer.train_batch_size")
    if mini is not None and batch is not None and mini != batch:
        message = f"trainer.train_batch_size is {batch}, but trainer.policy_mini_batch_size is {mini}; fully asynchronous training needs the same number"
        place = plan.own["trainer.train_batch_size"].location
        yield config_finding(message, place, {"trainer.train_batch_size": str(mini)})
    key = "trainer.fully_async.num_parallel_generation_workers"
    workers, staleness = own_integer(plan, key), own_integer(plan, "trainer.fully_async.max_staleness_steps")
    if mini is None or workers is None or staleness is None or fits_staleness(workers, mini, staleness):
        return
    least, most = worker_range(mini, staleness)
    message = f"{key} is {workers}; with mini batches of {mini} and a staleness of {staleness} steps, expected {least} to {most}"
    nearest = least if workers < least else most
    yield config_finding(message, plan.own[key].location, {key: str(nearest)})


def _samples(plan: Plan) -> Iterator[Finding]:
    """SkyRL samples no further prompts; full batches drop prompts with equal rewards, so the filter has to be on."""
    kind = own_value(plan, _SAMPLING)
    if kind is not None:
        message = f"{kind.assignment}, but fully asynchronous training has no dynamic sampling; expected null"
        yield config_finding(message, kind.location, {_SAMPLING: "null"})
    found = plan.own.get(_FILTER)
    if not _is_on(plan, _FULL) or (found is not None and (found.unknown or found.value is True)):
        return
    message = f"{_FULL} is true, but {_FILTER} is {'not set' if found is None else 'false'}; full batches need it"
    place = (found or plan.own[_FULL]).location
    may_be_set = found is None and own_value(plan, OTHER_PROGRAM) is not None
    severity = Severity.WARNING if may_be_set else Severity.ERROR
    yield config_finding(message, place, {_FILTER: "true"}, severity=severity)


def _loss(plan: Plan) -> Iterator[Finding]:
    """SkyRL 0.2 and earlier take every loss, and a script does not name its release: a warning."""
    loss, anchor = own_value(plan, _LOSS), plan.own.get("trainer.algorithm.cispo.cispo_anchor")
    if loss is None or (anchor is not None and anchor.unknown):
        return
    if not compares_with_rollouts(loss.value, None if anchor is None else anchor.value):
        message = f"{loss.assignment} uses log-probs of a policy that fully asynchronous training does not keep; SkyRL 0.3 and later refuse it, expected 'rollout_is' or 'dppo'"
        yield config_finding(message, loss.location, severity=Severity.WARNING)


def _prime(plan: Plan) -> Iterator[Finding]:
    kind = own_value(plan, "weight_broadcast.type")
    lora = plan.own.get("trainer.model.lora")
    if kind is not None and kind.value != "filesystem" and lora is not None:
        message = (
            f"{kind.assignment} sends weights in memory, which LoRA training does not support; expected 'filesystem'"
        )
        yield config_finding(message, kind.location, {kind.own: "filesystem"})
    elif kind is not None and kind.value == "nccl":
        counts = [plan.integer(f"deployment.{name}_gpus") for name in ("inference", "trainer")]
        if None not in counts and sum(count or 0 for count in counts) < 2:
            yield config_finding(f"{kind.assignment} needs at least 2 GPUs for trainer and inference", kind.location)
    group = plan.integer("rollout.n")
    for name in ("max_inflight", "initial_inflight"):
        key = f"orchestrator.concurrency.{name}"
        found = own_integer(plan, key)
        if found is not None and group is not None and found < group:
            message = f"{key} is {found}, less than the {group} rollouts of one group; expected at least {group}"
            yield config_finding(message, plan.own[key].location, {key: str(group)})
    both = [own_value(plan, f"orchestrator.{name}") for name in ("batch_size", "token_batch_size")]
    if both[0] is not None and both[1] is not None:
        message = "orchestrator.batch_size and orchestrator.token_batch_size are both set; expected one of them"
        yield config_finding(message, both[1].location)
