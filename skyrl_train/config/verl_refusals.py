"""Settings of verl that contradict each other, or that it needs and does not get, by release (CFG012).

Each rule is one of verl's own: of its validate_config, of the `__post_init__` and `validate` of its dataclasses, or of a
worker's start. A rule reads settings through `own`, which gives None for what is not set or not known.
"""

from collections.abc import Callable, Iterator

from skyrl_train.config.refusals import Own, Refusal, Rule
from skyrl_train.config.releases import Span
from skyrl_train.config.verl_choices import ALGORITHM, A, R, has_critic, is_fsdp
from skyrl_train.config.verl_megatron import MEGATRON_RULES
from skyrl_train.config.verl_separate import RULES as SEPARATE_RULES
from skyrl_train.config.verl_tokens import TOKEN_RULES

M, C, REF, RM = "actor_rollout_ref.model", "critic", "actor_rollout_ref.ref", "reward_model"
DYNAMIC = f"{A}.use_dynamic_bsz"
VLLM_MAX_LORA_RANK = 512
COMPARES_ROLLOUTS = ("grpo", "grpo_vectorized", "rloo", "rloo_vectorized", "opo", "gdpo")
USUAL_ROLLOUTS = 8
GROUP = "env.rollout.n"
"""The rollouts of a prompt in verl-agent."""
TASK_REWARDS = "distillation.distillation_loss.use_task_rewards"
_SERVED = ("vllm", "sglang", "trtllm")


def _micro(section: str, name: str, *, is_read: Callable[[Own], bool]) -> Callable[[Own], Iterator[Refusal]]:
    """Exactly one of the micro batch sizes: for all GPUs together (deprecated) or for one GPU."""
    total, per_gpu = f"{section}.{name}", f"{section}.{name}_per_gpu"

    def judge(own: Own) -> Iterator[Refusal]:
        if not is_read(own):
            return
        if own(total) is None and own(per_gpu) is None:
            yield Refusal(
                key=per_gpu,
                message=f"{per_gpu} is not set, and dynamic batches are off; set it to the sequences that one GPU takes at once",
            )
        elif own(total) is not None and own(per_gpu) is not None:
            yield Refusal(
                key=total,
                message=f"{total} = {own(total)} and {per_gpu} = {own(per_gpu)} are both set; expected one of them, remove {total}",
                removes=(total,),
            )

    return judge


def _total_micro(section: str, *, sequence: str, is_read: Callable[[Own], bool]) -> Callable[[Own], Iterator[Refusal]]:
    """The deprecated micro batch of all GPUs divides the mini batch and has a sequence for each GPU."""
    mini, total = f"{section}.ppo_mini_batch_size", f"{section}.ppo_micro_batch_size"

    def judge(own: Own) -> Iterator[Refusal]:
        sizes = _integers(own, mini, total)
        if sizes is None or not is_read(own) or sizes[1] < 1 or own(f"{total}_per_gpu") is not None:
            return
        if sizes[0] % sizes[1]:
            yield Refusal(key=total, message=f"{total} = {sizes[1]} does not divide {mini} = {sizes[0]}")
        ranks = _integers(own, "trainer.nnodes", "trainer.n_gpus_per_node")
        parallel = own(sequence) if isinstance(own(sequence), int) else 1
        if ranks is not None and sizes[1] * parallel < ranks[0] * ranks[1]:
            yield Refusal(
                key=total,
                message=f"{total} = {sizes[1]} x sequence parallel size {parallel} is less than the {ranks[0] * ranks[1]} GPUs; use {total}_per_gpu",
            )

    return judge


def _critic_batch(own: Own) -> Iterator[Refusal]:
    key = f"{C}.ppo_mini_batch_size"
    sizes = _integers(own, "data.train_batch_size", key)
    if sizes is None or sizes[1] == own(f"{A}.ppo_mini_batch_size"):
        return  # CFG002 tells of the actor's
    if _critic_in_parts(own) and sizes[0] < sizes[1]:
        yield Refusal(
            key=key,
            message=f"{key} = {sizes[1]} is larger than data.train_batch_size = {sizes[0]}; use at most {sizes[0]}",
            settings={key: str(sizes[0])},
        )


def _padding(own: Own) -> Iterator[Refusal]:
    yield from _needs_no_padding(own, f"{A}.ulysses_sequence_parallel_size", f"{M}.use_remove_padding")


def _critic_padding(own: Own) -> Iterator[Refusal]:
    if has_critic(own) and own(f"{C}.strategy") in ("fsdp", "fsdp2"):
        yield from _needs_no_padding(
            own, f"{C}.ulysses_sequence_parallel_size", f"{C}.model.use_remove_padding", check_strategy=False
        )


def _needs_no_padding(own: Own, size: str, padding: str, *, check_strategy: bool = True) -> Iterator[Refusal]:
    value = own(size)
    if check_strategy and not is_fsdp(own):
        return
    if isinstance(value, int) and value > 1 and own(padding) is False:
        yield Refusal(
            key=padding,
            message=f"{size} = {value} needs {padding} = True, but it is False",
            settings={padding: "True"},
        )


def _validation_sampling(own: Own) -> Iterator[Refusal]:
    key = f"{R}.temperature"
    value = own(key)
    if own(f"{R}.val_kwargs.do_sample") is True and _is_number(value) and value <= 0:
        yield Refusal(
            key=key,
            message=f"{key} = {value}, but validation samples ({R}.val_kwargs.do_sample is True); expected more than 0",
        )


def _lora_rank(own: Own) -> Iterator[Refusal]:
    key = f"{M}.lora_rank"
    value = own(key)
    merged = own(f"{M}.lora.merge") is True
    if own(f"{R}.name") == "vllm" and not merged and _is_number(value) and value > VLLM_MAX_LORA_RANK:
        yield Refusal(
            key=key,
            message=f"{key} = {value}, but vLLM serves adapters up to rank {VLLM_MAX_LORA_RANK}",
            settings={key: str(VLLM_MAX_LORA_RANK)},
        )


def _expert_parallel(own: Own) -> Iterator[Refusal]:
    key = f"{R}.expert_parallel_size"
    sizes = _integers(own, key, f"{R}.tensor_model_parallel_size", f"{R}.data_parallel_size")
    if (
        sizes is not None
        and own(f"{R}.name") in ("vllm", "sglang")
        and sizes[0] > 1
        and sizes[0] != sizes[1] * sizes[2]
    ):
        yield Refusal(
            key=key,
            message=f"{key} = {sizes[0]}; expected 1, or tensor {sizes[1]} x data {sizes[2]} = {sizes[1] * sizes[2]}",
            settings={key: str(sizes[1] * sizes[2])},
        )


def _pipeline(own: Own) -> Iterator[Refusal]:
    key = f"{R}.pipeline_model_parallel_size"
    value, name = own(key), own(f"{R}.name")
    if isinstance(value, int) and value > 1 and name in _SERVED:
        yield Refusal(
            key=key, message=f"{key} = {value}, but verl runs {name} without pipelines; expected 1", settings={key: "1"}
        )


def _moe_tensor(own: Own) -> Iterator[Refusal]:
    key = f"{R}.moe_tensor_parallel_size"
    value, name = own(key), own(f"{R}.name")
    if isinstance(value, int) and value > 1 and name in ("vllm", "sglang"):
        yield Refusal(key=key, message=f"{key} = {value} is for trtllm only, but {R}.name is {name}", removes=(key,))


def _disaggregation(own: Own) -> Iterator[Refusal]:
    key = f"{R}.disaggregation.enabled"
    name = own(f"{R}.name")
    if own(key) is True and name == "trtllm":
        yield Refusal(key=key, message=f"{key} is True, but {R}.name is {name}; expected vllm or sglang")


def _megatron_tree(own: Own) -> Iterator[Refusal]:
    """verl reads the sizes of Megatron, which only the tree for Megatron has."""
    if own(f"{A}.strategy") == "megatron" and own(f"{A}.megatron.tensor_model_parallel_size") is None:
        yield Refusal(
            key=f"{A}.strategy",
            message=f"{A}.strategy is megatron, but the configuration has no {A}.megatron; "
            "pass --config-name=ppo_megatron_trainer.yaml, or model_engine=megatron since verl 0.7.1",
        )


def _same_strategy(own: Own) -> Iterator[Refusal]:
    key = f"{C}.strategy"
    actor, critic = own(f"{A}.strategy"), own(key)
    families = [_FAMILIES.get(str(name), "") for name in (actor, critic)]
    if all(families) and families[0] != families[1]:
        yield Refusal(key=key, message=f"{key} is {critic}, but {A}.strategy is {actor}; expected the same")


_FAMILIES = {"fsdp": "fsdp", "fsdp2": "fsdp", "megatron": "megatron"}


def _multi_turn(own: Own) -> Iterator[Refusal]:
    turns = f"{R}.multi_turn"
    if own(f"{turns}.enable") is not True:
        return
    estimator = own(f"{ALGORITHM}.adv_estimator")
    if isinstance(estimator, str) and estimator != "grpo":
        yield Refusal(
            key=f"{ALGORITHM}.adv_estimator",
            message=f"{ALGORITHM}.adv_estimator is {estimator}, but {turns}.enable is True; expected grpo",
        )


def _router_replay(own: Own) -> Iterator[Refusal]:
    key = f"{ALGORITHM}.rollout_correction.bypass_mode"
    mode = f"{A}.megatron.router_replay.mode"
    if own(mode) == "R2" and own(key) is True and own(f"{A}.strategy") == "megatron":
        yield Refusal(key=key, message=f"{mode} is R2, which needs {key} = False", settings={key: "False"})


def _adaptive_horizon(own: Own) -> Iterator[Refusal]:
    key = f"{ALGORITHM}.kl_ctrl.horizon"
    value = own(key)
    is_read = own(f"{ALGORITHM}.use_kl_in_reward") is True and own(f"{ALGORITHM}.kl_ctrl.type") == "adaptive"
    if is_read and _is_number(value) and value <= 0:
        yield Refusal(key=key, message=f"{key} = {value}; expected more than 0 for an adaptive KL coefficient")


def _rollout_name(own: Own) -> Iterator[Refusal]:
    """The tree of verl has `???` here, which every trainer reads."""
    key = f"{R}.name"
    if own(key) is None:
        yield Refusal(key=key, message=f"{key} is not set, and verl stops without it: set it to vllm or sglang")


def _moved_rewards(own: Own) -> Iterator[Refusal]:
    """The old place is still in the tree, but the trainer no longer copies it to the new one."""
    path, name = "custom_reward_function.path", "custom_reward_function.name"
    if own(path) is not None and own(f"reward.{path}") is None:
        moves = {key: f"reward.{key}" for key in (path, name) if own(key) is not None}
        yield Refusal(
            key=path, message=f"{path} is ignored, so this reward is not used; expected reward.{path}", moves=moves
        )
    old, new = f"{RM}.reward_manager", "reward.reward_manager.name"
    if own(old) not in (None, own(new)) and own(new) == "naive":
        yield Refusal(
            key=old,
            message=f"{old} = {own(old)} is ignored, and {new} = {own(new)} is used; expected {new} = {own(old)}",
            moves={old: new},
        )


def _same_batching(own: Own) -> Iterator[Refusal]:
    key = f"{R}.log_prob_use_dynamic_bsz"
    actor, rollout = own(DYNAMIC), own(key)
    if isinstance(actor, bool) and isinstance(rollout, bool) and actor is not rollout:
        yield Refusal(
            key=key,
            message=f"{key} = {rollout}, but {DYNAMIC} = {actor}; expected the same",
            settings={key: str(actor)},
        )


def _clip_c(own: Own) -> Iterator[Refusal]:
    key = f"{A}.clip_ratio_c"
    value = own(key)
    if _is_number(value) and value <= 1 and own(f"{A}.policy_loss.loss_mode") in (None, "vanilla"):
        yield Refusal(key=key, message=f"{key} = {value}; expected more than 1")


def _resume_path(own: Own) -> Iterator[Refusal]:
    mode, key = "trainer.resume_mode", "trainer.resume_from_path"
    value = own(key)
    if own(mode) != "resume_path":
        return
    if not isinstance(value, str):
        yield Refusal(key=key, message=f"{mode} is resume_path, but {key} is {value}; give the folder global_step_N")
    elif "global_step_" not in value:
        yield Refusal(key=key, message=f"{key} = {value!r}; expected a folder global_step_N")


def _group_metric(own: Own) -> Iterator[Refusal]:
    key = f"{ALGORITHM}.filter_groups.metric"
    if own(f"{ALGORITHM}.filter_groups.enable") is True and not own(key):
        yield Refusal(
            key=key,
            message=f"{ALGORITHM}.filter_groups.enable is True, but {key} is not set; expected the name of a metric",
        )


def _visible_gpus(own: Own) -> Iterator[Refusal]:
    """Ray's own cluster of one node has as many GPUs as the variable lists."""
    listed, each = own(VISIBLE), own("trainer.n_gpus_per_node")
    if not isinstance(listed, str) or not isinstance(each, int) or own("trainer.nnodes") != 1:
        return
    count = len([one for one in listed.split(",") if one.strip() and one.strip() != "-1"])
    if 0 < count < each:
        yield Refusal(
            key="trainer.n_gpus_per_node",
            message=f"trainer.n_gpus_per_node = {each}, but {VISIBLE}={listed} shows {count} GPU{'s' * (count > 1)}; expected {count}",
            settings={"trainer.n_gpus_per_node": str(count)},
        )


def _samples_per_worker(own: Own) -> Iterator[Refusal]:
    key = f"{R}.trace.max_samples_per_step_per_worker"
    value = own(key)
    if isinstance(value, int) and value < 0:
        yield Refusal(key=key, message=f"{key} = {value}; expected at least 0 or null", settings={key: "null"})


def _lone_rollout(own: Own) -> Iterator[Refusal]:
    """verl then takes the reward itself for the advantage: nothing is compared. verl-agent asserts a single rollout, and
    takes the size of a group from its environment."""
    estimator, key = own(f"{ALGORITHM}.adv_estimator"), f"{R}.n" if own(GROUP) is None else GROUP
    if own("distillation.enabled") is True and own(TASK_REWARDS) is False:
        return  # a teacher takes the place of the reward
    if estimator in COMPARES_ROLLOUTS and own(key) == 1:
        yield Refusal(
            key=key,
            message=f"{key} = 1: with one rollout of a prompt {estimator} has nothing to compare it with, and takes the reward itself; use 2 or more, such as {USUAL_ROLLOUTS}",
            settings={key: str(USUAL_ROLLOUTS)},
        )


def _in_parts(own: Own) -> bool:  # FIX(CFG012)
    return own(DYNAMIC) is False


def _with_reference(own: Own) -> bool:
    used = own(f"{A}.use_kl_loss") is True or own(f"{ALGORITHM}.use_kl_in_reward") is True
    return used and _in_parts(own)


def _critic_in_parts(own: Own) -> bool:
    return has_critic(own) and own(f"{C}.use_dynamic_bsz") is False


def _rewards_in_parts(own: Own) -> bool:
    return own(f"{RM}.enable") is True and own(f"{RM}.use_dynamic_bsz") is False and not own(f"{RM}.use_reward_loop")


def _integers(own: Own, *keys: str) -> tuple[int, ...] | None:
    values = tuple(own(key) for key in keys)
    return values if all(isinstance(value, int) and not isinstance(value, bool) for value in values) else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _both(section: str, name: str) -> tuple[str, str]:
    return f"{section}.{name}", f"{section}.{name}_per_gpu"


VISIBLE = "CUDA_VISIBLE_DEVICES"
_USE_CRITIC = ("critic.enable", f"{ALGORITHM}.adv_estimator")
_LOG, _PPO = "log_prob_micro_batch_size", "ppo_micro_batch_size"
_GPUS = ("trainer.nnodes", "trainer.n_gpus_per_node")
_SP = "ulysses_sequence_parallel_size"
RULES = (
    Rule((DYNAMIC, *_both(A, _PPO)), _micro(A, _PPO, is_read=_in_parts)),
    Rule((DYNAMIC, *_both(R, _LOG)), _micro(R, _LOG, is_read=_in_parts)),
    Rule((DYNAMIC, *_both(REF, _LOG)), _micro(REF, _LOG, is_read=_with_reference)),
    Rule((f"{C}.use_dynamic_bsz", *_USE_CRITIC, *_both(C, _PPO)), _micro(C, _PPO, is_read=_critic_in_parts)),
    Rule(_both(RM, "micro_batch_size"), _micro(RM, "micro_batch_size", is_read=_rewards_in_parts), Span("", "0.7.1")),
    Rule((DYNAMIC, f"{A}.{_SP}", *_GPUS), _total_micro(A, sequence=f"{A}.{_SP}", is_read=_in_parts)),
    Rule((*_USE_CRITIC, f"{C}.{_SP}", *_GPUS), _total_micro(C, sequence=f"{C}.{_SP}", is_read=_critic_in_parts)),
    Rule((*_USE_CRITIC, "data.train_batch_size"), _critic_batch),
    Rule((f"{A}.{_SP}", f"{M}.use_remove_padding"), _padding),
    Rule((*_USE_CRITIC, f"{C}.{_SP}"), _critic_padding, Span("", "0.8.0")),
    Rule((f"{R}.temperature",), _validation_sampling),
    Rule((f"{M}.lora_rank", f"{M}.lora.merge", f"{R}.name"), _lora_rank),
    Rule((f"{R}.expert_parallel_size",), _expert_parallel),
    Rule((f"{R}.pipeline_model_parallel_size",), _pipeline),
    Rule((f"{R}.moe_tensor_parallel_size",), _moe_tensor),
    Rule((f"{R}.disaggregation.enabled",), _disaggregation),
    Rule((f"{A}.strategy", f"{A}.megatron.tensor_model_parallel_size"), _megatron_tree),
    Rule((f"{A}.strategy", f"{C}.strategy"), _same_strategy, Span("", "0.6.0")),
    Rule((f"{R}.name",), _rollout_name, Span("0.6.0")),
    Rule(("reward.custom_reward_function.path", "reward.reward_manager.name"), _moved_rewards, Span("0.9.0")),
    Rule((DYNAMIC, f"{R}.log_prob_use_dynamic_bsz"), _same_batching, Span("0.8.0")),
    Rule((f"{R}.multi_turn.enable",), _multi_turn, Span("0.4.0", "0.5.0")),
    Rule((f"{A}.megatron.router_replay.mode",), _router_replay, Span("0.9.1")),
    Rule((f"{ALGORITHM}.kl_ctrl.horizon",), _adaptive_horizon),
    Rule((f"{A}.clip_ratio_c", f"{A}.policy_loss.loss_mode"), _clip_c),
    Rule(("trainer.resume_mode", "trainer.resume_from_path"), _resume_path),
    Rule((f"{ALGORITHM}.filter_groups.enable", f"{ALGORITHM}.filter_groups.metric"), _group_metric, Span("0.9.0")),
    Rule((VISIBLE, *_GPUS), _visible_gpus),
    Rule((f"{ALGORITHM}.adv_estimator", f"{R}.n", GROUP), _lone_rollout, is_certain=False),
    Rule((f"{R}.trace.max_samples_per_step_per_worker",), _samples_per_worker),
    *MEGATRON_RULES,
    *TOKEN_RULES,
    *SEPARATE_RULES,
)
