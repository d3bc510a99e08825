"""Written settings that SkyRL's validate_cfg refuses together (CFG012).

Defaults differ between versions and may lie in another file, so a rule needs that each of its settings is written. The critic's
model alone is unset in every version.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import prod

from skyrl_train.config.refusals import Own, Refusal, Rule, whole

ALGORITHM, POLICY, PLACEMENT = "trainer.algorithm", "trainer.policy", "trainer.placement"
MEGATRON = f"{POLICY}.megatron_config"
OLD_ENGINES, OLD_ENGINE = "generator.num_inference_engines", "generator.inference_engine_"
"""The names of the engines until SkyRL 0.2."""
STRATEGIES, RENAMED, REMOVED = ("fsdp", "megatron"), "fsdp2", "deepspeed"
"""Today's words, the one that SkyRL renames itself, and the one that it had until skyrl_train 0.3."""
ESTIMATORS = ("grpo", "rloo", "gae", "reinforce++", "maxrl")
KL_ESTIMATORS = ("k1", "k2", "k3", "abs")
"""The words that any version of SkyRL has."""
CORRECTION = f"{ALGORITHM}.off_policy_correction"
RATIO, MASK, REDUCTION = (
    f"{CORRECTION}.tis_ratio_type",
    f"{CORRECTION}.sequence_mask_metric",
    f"{ALGORITHM}.loss_reduction",
)
RATIOS, MASKS = ("token", "sequence"), ("product", "geometric")
"""The words since skyrl_train 0.4, which has the correction."""
LEGACY_MEAN = "token_mean_legacy"
REDUCTIONS = ("token_mean", "sequence_mean", "seq_mean_token_sum_norm", LEGACY_MEAN, "prompt_mean")
"""The words of any version; the last two since skyrl 0.2 and 0.3."""
BACKENDS, OLD_BACKEND = ("nccl", "delta"), "gloo"
USUAL_ROLLOUTS = 8
ENGINE, STEPS = "generator.inference_engine", "generator.step_wise_trajectories"


def _kl(own: Own) -> Iterator[Refusal]:
    reward, loss = f"{ALGORITHM}.use_kl_in_reward", f"{ALGORITHM}.use_kl_loss"
    if own(reward) is True and own(loss) is True:
        yield Refusal(
            key=loss, message=f"{reward} and {loss} are both true; expected one of them", settings={loss: "false"}
        )


def _critic(own: Own) -> Iterator[Refusal]:
    key, path = f"{ALGORITHM}.advantage_estimator", "trainer.critic.model.path"
    if own(key) == "gae" and not own(path):
        yield Refusal(key=key, message=f"{key} is gae, which trains a critic, but {path} is not set")


def _step_wise(own: Own) -> Iterator[Refusal]:
    key, value = f"{ALGORITHM}.advantage_estimator", own(f"{ALGORITHM}.advantage_estimator")
    if own(STEPS) is True and value in ("gae", "reinforce++"):
        yield Refusal(key=key, message=f"{key} is {value}, but {STEPS} is true; expected grpo, rloo or maxrl")


def _merged(own: Own) -> Iterator[Refusal]:
    key = "generator.merge_stepwise_output"
    if own(key) is True and own(STEPS) is False:
        yield Refusal(key=key, message=f"{key} is true, but {STEPS} is false", settings={STEPS: "true"})


def _words(own: Own) -> Iterator[Refusal]:
    """A strategy or an estimator that no version has."""
    strategy, estimator = "trainer.strategy", f"{ALGORITHM}.advantage_estimator"
    yield from _no_word(own, strategy, STRATEGIES, (RENAMED, REMOVED))
    yield from _no_word(own, estimator, ESTIMATORS)
    if own(f"{ALGORITHM}.use_kl_loss") is not False or own(f"{ALGORITHM}.use_kl_in_reward") is True:
        yield from _no_word(own, f"{ALGORITHM}.kl_estimator_type", KL_ESTIMATORS)


def _losses(own: Own) -> Iterator[Refusal]:
    """How the loss is corrected for older rollouts, and how it is reduced. An empty word turns the correction off."""
    yield from _no_word(own, RATIO, RATIOS, ("",))
    yield from _no_word(own, MASK, MASKS, ("",))
    yield from _no_word(own, REDUCTION, REDUCTIONS)
    yield from _no_word(own, "trainer.sequence_parallel_backend", ("ulysses",))
    key, corrections = f"{ALGORITHM}.policy_loss_type", [name for name in (RATIO, MASK) if own(name)]
    if own(key) in ("clip_cov", "kl_cov") and corrections:
        yield Refusal(key=key, message=f"{key} is {own(key)}, which takes no correction, but {corrections[0]} is set")
    if own(STEPS) is True and own(REDUCTION) == LEGACY_MEAN:
        yield Refusal(
            key=REDUCTION,
            message=f"{REDUCTION} is {LEGACY_MEAN}, but {STEPS} is true; expected token_mean",
            settings={REDUCTION: "token_mean"},
        )


def _old_words(own: Own) -> Iterator[Refusal]:
    """A word that today's SkyRL refuses, or silently takes for another."""
    if own("trainer.strategy") == REMOVED:
        message = (
            f"trainer.strategy is {REMOVED!r}, which SkyRL had until skyrl_train 0.3; expected {_listed(STRATEGIES)}"
        )
        yield Refusal(key="trainer.strategy", message=message)
    for key in (f"{ENGINE}.weight_sync_backend", "generator.weight_sync_backend"):
        for refusal in _no_word(own, key, BACKENDS, (OLD_BACKEND,)):
            yield replace(
                refusal, message=f"{refusal.message}; SkyRL broadcasts the weights then, also where CUDA IPC would do"
            )


def _no_word(own: Own, key: str, words: tuple[str, ...], others: tuple[str, ...] = ()) -> Iterator[Refusal]:
    """A value that is none of the words, nor of the others, which are not proposed."""
    value = own(key)
    if isinstance(value, str) and value not in (*words, *others):
        yield Refusal(key=key, message=f"{key} is {value!r}; expected {_listed(words)}", words=words)


def _listed(words: tuple[str, ...]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _megatron_ranks(own: Own) -> Iterator[Refusal]:
    """Tensor, pipeline and context parallel ranks divide the GPUs of the policy."""
    gpus = whole(own(f"{PLACEMENT}.policy_num_gpus_per_node"))
    if own("trainer.strategy") != "megatron" or gpus is None or gpus < 1:
        return
    names = ("tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size")
    sizes = {name: whole(own(f"{MEGATRON}.{name}")) or 1 for name in names}
    one, given = prod(sizes.values()), gpus * (whole(own(f"{PLACEMENT}.policy_num_nodes")) or 1)
    if one > 0 and given % one:
        largest = max(sizes, key=lambda name: sizes[name])
        yield Refusal(
            key=f"{MEGATRON}.{largest}",
            message=f"tensor {sizes[names[0]]} x pipeline {sizes[names[1]]} x context {sizes[names[2]]} = {one} GPUs for one copy of the model, which do not divide {given} GPUs",
        )


def _kept(own: Own) -> Iterator[Refusal]:
    key = "trainer.max_ckpts_to_keep"
    if own(key) == 0 and own(key) is not False:
        yield Refusal(key=key, message=f"{key} is 0; expected at least 1, or -1 for all", settings={key: "-1"})


def _log_probs(own: Own) -> Iterator[Refusal]:
    key = "generator.sampling_params.logprobs"
    value = whole(own(key))
    if value is not None and value > 1:
        yield Refusal(key=key, message=f"{key} is {value}; expected 0 or 1", settings={key: "1"})


def _prompt(own: Own) -> Iterator[Refusal]:
    key, other = "generator.max_input_length", "trainer.max_prompt_length"
    longest, prompt, turns = (whole(own(name)) for name in (key, other, "generator.max_turns"))
    if longest is None or prompt is None or (turns is None and longest >= prompt):
        return
    if turns == 1 and longest != prompt:
        yield Refusal(
            key=key,
            message=f"{key} is {longest}, but {other} is {prompt}; one turn needs the same",
            settings={key: str(prompt)},
        )
    elif longest < prompt:
        yield Refusal(key=key, message=f"{key} is {longest}, less than {other} = {prompt}", settings={key: str(prompt)})


def _megatron(own: Own) -> Iterator[Refusal]:
    key = f"{POLICY}.sequence_parallel_size"
    size, strategy = whole(own(key)), "trainer.strategy"
    if own(strategy) == "megatron" and size is not None and size > 1:
        yield Refusal(key=key, message=f"{key} is {size}, but {strategy} is megatron; expected 1", settings={key: "1"})


def _adapter(own: Own) -> Iterator[Refusal]:
    key, rank = f"{ENGINE}.backend", whole(own(f"{POLICY}.model.lora.rank"))
    value = own(key)
    if rank is not None and rank > 0 and value not in (None, "vllm"):
        yield Refusal(
            key=key, message=f"{key} is {value}, which takes no adapters; expected vllm", settings={key: "vllm"}
        )


def _colocated(own: Own) -> Iterator[Refusal]:
    """The engines take as many GPUs as the policy that shares them."""
    if own(f"{PLACEMENT}.colocate_all") is not True:
        return
    key, before = (f"{ENGINE}.num_engines", f"{ENGINE}.")
    if own(key) is None:
        key, before = OLD_ENGINES, OLD_ENGINE
    engines, size, gpus = (
        whole(own(name)) for name in (key, f"{before}tensor_parallel_size", f"{PLACEMENT}.policy_num_gpus_per_node")
    )
    if engines is None or size is None or gpus is None:
        return
    others = [own(f"{before}{name}_parallel_size") for name in ("pipeline", "data")]
    more, nodes = [whole(other) or 1 for other in others], whole(own(f"{PLACEMENT}.policy_num_nodes")) or 1
    used, given = engines * size * more[0] * more[1], gpus * nodes
    if used != given:
        yield Refusal(
            key=key,
            message=f"{engines} engines x tensor {size}{''.join(f' x {one}' for one in more if one > 1)} = {used} GPUs, "
            f"but the policy has {given} and {PLACEMENT}.colocate_all is true; expected the same",
        )


def _experts(own: Own) -> Iterator[Refusal]:
    """The experts of an engine are on all GPUs of its tensor and data parallel ranks."""
    for before in (f"{ENGINE}.", OLD_ENGINE):
        key = f"{before}expert_parallel_size"
        experts, tensor = whole(own(key)), whole(own(f"{before}tensor_parallel_size"))
        data = whole(own(f"{before}data_parallel_size")) or 1
        if experts is not None and experts > 1 and tensor is not None and tensor * data != experts:
            yield Refusal(
                key=key,
                message=f"{key} is {experts}, but tensor {tensor} x data {data} = {tensor * data} GPUs; expected the same",
                settings={key: str(tensor * data)},
            )


def _lone_rollout(own: Own) -> Iterator[Refusal]:
    """SkyRL takes the reward itself for the advantage of a single rollout; its rloo takes 0."""
    key, estimator = "generator.n_samples_per_prompt", own(f"{ALGORITHM}.advantage_estimator") or "grpo"
    if own(key) == 1 and estimator in ("grpo", "maxrl", "rloo"):
        ends = "every advantage is 0" if estimator == "rloo" else "the advantage is the reward itself"
        yield Refusal(
            key=key,
            message=f"{key} = 1: with one rollout of a prompt {estimator} has nothing to compare it with, and {ends}; use 2 or more, such as {USUAL_ROLLOUTS}",
            settings={key: str(USUAL_ROLLOUTS)},
        )


def _rule(judge: Callable[[Own], Iterator[Refusal]], *reads: str) -> Rule:
    return Rule(reads, judge)


SKYRL_RULES = (
    _rule(_kl),
    _rule(_critic, "trainer.critic.model.path"),
    _rule(_step_wise),
    _rule(_merged),
    _rule(_kept),
    _rule(_words),
    Rule((), _losses, is_validated=True),
    _rule(
        _experts,
        *(f"{before}{name}_parallel_size" for before in (f"{ENGINE}.", OLD_ENGINE) for name in ("tensor", "data")),
    ),
    Rule((), _old_words, is_certain=False),
    _rule(
        _megatron_ranks,
        f"{PLACEMENT}.policy_num_nodes",
        *(
            f"{MEGATRON}.{name}"
            for name in ("tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size")
        ),
    ),
    _rule(_log_probs),
    _rule(_prompt),
    _rule(_megatron),
    _rule(_adapter),
    _rule(
        _colocated,
        *(f"{before}{name}_parallel_size" for before in (f"{ENGINE}.", OLD_ENGINE) for name in ("pipeline", "data")),
        f"{PLACEMENT}.policy_num_nodes",
    ),
    Rule((f"{ALGORITHM}.advantage_estimator",), _lone_rollout, is_certain=False),
)
