"""The words that verl accepts for a setting, by release (CFG011).

verl looks them up in registries, enumerations and comparisons of its code, and refuses any other word when it starts or
in its first step.
"""

from collections.abc import Callable, Mapping
from dataclasses import field

from skyrl_train.config.refusals import Own
from skyrl_train.config.releases import ALWAYS, Span
from skyrl_train.contracts.record import record

A, R, ALGORITHM = "actor_rollout_ref.actor", "actor_rollout_ref.rollout", "algorithm"
_CORE = ("verl/trainer/ppo/core_algos.py", "verl/trainer/ppo/ray_trainer.py")
_ACTORS = (*_CORE, "verl/workers/actor/dp_actor.py", "verl/workers/actor/megatron_actor.py")
_SCHEDULERS = ("verl/workers/fsdp_workers.py", "verl/workers/engine/fsdp/transformer_impl.py")
_CONFIG = ("verl/workers/config/actor.py", "verl/trainer/ppo/ray_trainer.py", "verl/trainer/ppo/core_algos.py")
_ROLLOUT = ("verl/workers/rollout/base.py", "verl/workers/rollout/replica.py", "verl/workers/fsdp_workers.py")
_ENGINES = (
    "verl/trainer/main_ppo.py",
    "verl/workers/config/engine.py",
    "verl/workers/engine_workers.py",
    "verl/trainer/config/actor/{word}_actor.yaml",
    "verl/trainer/config/critic/{word}_critic.yaml",
)
"""The configuration of a fork's own strategy names it."""
_REWARDS = (
    "verl/trainer/main_ppo.py",
    "verl/trainer/ppo/reward.py",
    "verl/workers/reward_manager/{word}.py",
    "verl/experimental/reward_loop/reward_manager/{word}.py",
)
CUSTOM_CODE = (
    "actor_rollout_ref.model.external_lib",
    "data.custom_cls.path",
    "trainer.v1.sampler.custom_sampler.path",
)
"""Keys that load the user's code, which may register further words."""
REWARD_CODE = ("custom_reward_function.path", "reward.custom_reward_function.path")
"""Keys that load the user's reward file: since 0.7.1 only in the processes that hold the reward manager."""


@record(kw_only=True)
class Choice:
    """The words of a setting and the releases that have each.

    `span`: the releases that look the word up; one that lacks the key refuses the key already.
    `applies`: whether verl reads the setting in this configuration. `open`: whether the user's code may register words.
    `by_reward`: the releases that load the reward file where they look the word up, so that it may register words too.
    `files`: the files of verl that hold the words, to look into where a checkout brings its own; `{word}` is the word.
    """

    words: Mapping[str, Span]
    span: Span = ALWAYS
    files: tuple[str, ...] = ()
    open: bool = False
    by_reward: Span = Span("", "0.7.1")
    applies: Callable[[Own], bool] = field(default=lambda _: True)
    listed: bool = False
    """Whether the setting may be a list of such words."""

    def refuses(self, word: str, release: str) -> bool:  # FIX(CFG011)
        """Whether this release reads the setting and lacks the word."""
        known = self.words.get(word)
        return self.span.holds(release) and (known is None or not known.holds(release))

    def registering(self, release: str) -> tuple[str, ...]:
        """The keys that load code of the user which may register a word."""
        if not self.open:
            return ()
        return (*CUSTOM_CODE, *REWARD_CODE) if self.by_reward.holds(release) else CUSTOM_CODE

    def accepted(self, release: str) -> tuple[str, ...]:
        return tuple(word for word, span in self.words.items() if span.holds(release))


def _words(text: str) -> dict[str, Span]:
    """`gae gpg@0.5.0 sync@-0.7.0`: of every release, from 0.5.0 on, before 0.7.0."""
    found: dict[str, Span] = {}
    for word in text.split():
        name, _, span = word.partition("@")
        since, _, until = span.partition("-")
        found[name] = Span(since, until)
    return found


def has_critic(own: Own) -> bool:
    """Whether verl trains a critic: `critic.enable`, else the estimator `gae`."""
    enabled = own("critic.enable")
    return enabled if isinstance(enabled, bool) else own("algorithm.adv_estimator") == "gae"


def is_fsdp(own: Own) -> bool:
    return own(f"{A}.strategy") in ("fsdp", "fsdp2")


def _is_served(own: Own) -> bool:
    return own(f"{R}.name") in ("vllm", "sglang")


_KL = _words("kl abs mse low_var_kl k1@0.4.0 k2@0.4.0 k3@0.4.0") | {
    f"{word}+": Span("0.8.0") for word in ("kl", "k1", "k2", "k3", "mse", "abs", "low_var_kl")
}
_STRATEGIES = _words("fsdp megatron fsdp2@0.4.0 veomni@0.7.0 torchtitan@0.7.1 automodel@0.8.0 mindspeed_megatron@0.8.0 fsdp_turbo@0.9.1")  # fmt: skip
_MANAGERS = _words("naive prime dapo@0.4.0 batch@0.4.0 remote@0.7.0 gdpo@0.7.1 rate_limited@0.6.0 limited@0.6.0")
_SCHEDULES = _words("constant cosine")
CHOICES: Mapping[str, Choice] = {
    f"{ALGORITHM}.adv_estimator": Choice(
        words=_words(
            "gae grpo reinforce_plus_plus remax rloo reinforce_plus_plus_baseline@0.4.0 opo@0.4.0 grpo_passk@0.4.0 gpg@0.5.0"
            " rloo_vectorized@0.6.0 grpo_vectorized@0.6.0 optimal_token_baseline@0.7.1 tir_optimal_token_baseline@0.7.1"
            " gdpo@0.7.1"
        ),
        files=_CORE,
        open=True,
    ),
    f"{A}.policy_loss.loss_mode": Choice(
        words=_words(
            "vanilla clip_cov kl_cov gpg@0.5.0 gspo@0.6.0 geo_mean@0.6.0 rollout_correction@0.6.1-0.7.0 sapo@0.7.0"
            " cispo@0.7.0 bypass_mode@0.7.0 dppo_tv@0.7.1 dppo_kl@0.7.1 dro@0.9.0"
        ),
        files=_ACTORS,
        open=True,
    ),
    f"{A}.loss_agg_mode": Choice(
        words=_words("token-mean seq-mean-token-sum seq-mean-token-mean seq-mean-token-sum-norm token-sum@0.9.0"),
        files=_CONFIG,
    ),
    f"{A}.strategy": Choice(words=_STRATEGIES, files=_ENGINES),
    "critic.strategy": Choice(words=_STRATEGIES, files=_ENGINES, applies=has_critic),
    f"{A}.kl_loss_type": Choice(words=_KL, files=_ACTORS, applies=lambda own: own(f"{A}.use_kl_loss") is True),
    f"{ALGORITHM}.kl_penalty": Choice(
        words=_KL, files=_CORE, applies=lambda own: own(f"{ALGORITHM}.use_kl_in_reward") is True
    ),
    f"{ALGORITHM}.kl_ctrl.type": Choice(
        words=_words("fixed adaptive"),
        files=_CORE,
        applies=lambda own: own(f"{ALGORITHM}.use_kl_in_reward") is True,
    ),
    f"{A}.optim.lr_scheduler_type": Choice(words=_SCHEDULES, files=_SCHEDULERS, applies=is_fsdp),
    f"{A}.optim.warmup_style": Choice(words=_SCHEDULES, span=Span("0.4.0"), files=_SCHEDULERS, applies=is_fsdp),
    f"{R}.name": Choice(
        words=_words("vllm sglang hf@-0.6.0 sglang_async@0.4.0-0.5.0 trtllm@0.7.1"), files=_ROLLOUT, open=True
    ),
    f"{R}.mode": Choice(words=_words("sync@-0.7.0 async"), span=Span("0.6.0"), files=_ROLLOUT),
    "reward_model.reward_manager": Choice(words=_MANAGERS, files=_REWARDS, open=True, by_reward=ALWAYS),
    "reward.reward_manager.name": Choice(
        words=_MANAGERS,
        files=_REWARDS,
        open=True,
        by_reward=ALWAYS,
        applies=lambda own: own("reward.reward_manager.source") in (None, "register"),
    ),
    f"{R}.dtype": Choice(words=_words("auto half float16 bfloat16 float float32"), applies=_is_served),
    "data.truncation": Choice(
        words=_words("left right middle@0.4.0 error"),
        span=Span("", "0.7.0"),
        files=("verl/utils/torch_functional.py", "verl/utils/dataset/rl_dataset.py"),
    ),
    "trainer.logger": Choice(
        words=_words(
            "console wandb tensorboard mlflow swanlab vemlp_wandb clearml@0.4.0 trackio@0.6.0 file@0.6.0 rl_insight@0.9.0 tracking"
        ),
        files=("verl/utils/tracking.py",),
        listed=True,
    ),
    "trainer.v1.trainer_mode": Choice(
        words=_words("sync colocate_async separate_async"),
        span=Span("0.9.0"),
        files=("verl/trainer/ppo/v1/trainer_{word}.py",),
        open=True,
    ),
    f"{A}.megatron.dtype": Choice(words=_words("bfloat16 float16")),
    f"{A}.megatron.router_replay.mode": Choice(words=_words("disabled R2 R3")),
    f"{A}.router_replay.mode": Choice(words=_words("disabled R2 R3")),
}
