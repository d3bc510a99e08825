"""The figures of a training step, and the names by which each framework prints them. One table for rules and views.

`python -m benchmarks.formats` holds these names against the frameworks' sources.
"""

from collections.abc import Mapping

from skyrl_doctor.core.record import record
from skyrl_train.contracts.weight_limits import DIFFERENCE

Metrics = Mapping[str, float]


@record(kw_only=True)
class Figure:
    """One figure. `own` are the names of skyrl_train's own metrics, `older` those of earlier versions of the frameworks."""

    verl: tuple[str, ...] = ()
    prime_rl: tuple[str, ...] = ()
    skyrl: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    older: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.verl, *self.own, *self.prime_rl, *self.skyrl, *self.older)

    def name(self, metrics: Metrics) -> str | None:
        """The name by which these metrics have the figure; None where they do not have it."""
        return next((name for name in self.names if name in metrics), None)

    def value(self, metrics: Metrics) -> float | None:
        name = self.name(metrics)
        return None if name is None else metrics[name]


STEP_S = Figure(verl=("timing_s/step", "perf/time_per_step"), prime_rl=("Time",), skyrl=("timing/step",))
REWARD = Figure(
    verl=("critic/score/mean", "critic/rewards/mean"),
    prime_rl=("Reward",),
    skyrl=("reward/avg_raw_reward",),
    own=("rollout_metrics/raw_reward",),
)
LOSS = Figure(
    verl=("actor/loss", "actor/pg_loss"),
    prime_rl=("Loss",),
    skyrl=("policy/final_loss", "policy/policy_loss", "train/loss"),
)
GRADIENT = Figure(
    verl=("actor/grad_norm",),
    prime_rl=("Grad. Norm",),
    skyrl=("policy/grad_norm", "train/grad_norm"),
    older=("policy/raw_grad_norm",),
)
ENTROPY = Figure(
    verl=("actor/entropy",),
    prime_rl=("Entropy",),
    skyrl=("policy/policy_entropy",),
    older=("actor/entropy_loss",),
)
LENGTH = Figure(verl=("response_length/mean",), skyrl=("generate/avg_num_tokens",))
LONGEST = Figure(verl=("response_length/max",), skyrl=("generate/max_num_tokens",))
SHORTEST = Figure(verl=("response_length/min",), skyrl=("generate/min_num_tokens",))
CUT = Figure(verl=("response_length/clip_ratio",), prime_rl=("Truncation",))
REFERENCE_KL = Figure(verl=("actor/kl_loss",), skyrl=("policy/policy_kl",))
MISMATCH_KL = Figure(verl=("rollout_corr/kl",), prime_rl=("Mismatch KL",))
PROBS_DIFF = Figure(verl=("training/rollout_probs_diff_mean",))
CORRELATION = Figure(verl=("training/rollout_actor_probs_pearson_corr",))
LOGPROBS_DIFF = Figure(
    skyrl=("policy/rollout_train_logprobs_abs_diff_mean", "policy/minibatch_rollout_logprobs_abs_diff_mean")
)
PROBE_DIFFERENCE = Figure(own=(DIFFERENCE,))
EFFECTIVE_SAMPLES = Figure(verl=("rollout_corr/rollout_is_eff_sample_size",))
IMPORTANCE = Figure(verl=("rollout_corr/rollout_is_mean",))
TRAINABLE = Figure(prime_rl=("Trainable",))
KEPT_GROUPS = Figure(skyrl=("async/keep_rate",))
ADVANTAGES = Figure(verl=("critic/advantages/mean", "critic/advantages/max"))
ADVANTAGE_SIZE = Figure(skyrl=("loss/avg_raw_advantages_abs",))
CANCELLED = Figure(prime_rl=("Cancelled",))
FAILED = Figure(prime_rl=("Error",))
TOO_OLD = Figure(skyrl=("async/staleness_violation_count",))

PLOTTED = {
    "reward": REWARD,
    "response length": LENGTH,
    "entropy": ENTROPY,
    "step time (s)": STEP_S,
    "gradient": GRADIENT,
    "mismatch KL": MISMATCH_KL,
}
"""The figures of the live view."""

MEMORY = {
    "GPU memory (GiB)": Figure(verl=("perf/max_memory_allocated_gb", "actor/perf/max_memory_allocated_gb")),
    "GPU memory reserved (GiB)": Figure(verl=("perf/max_memory_reserved_gb", "actor/perf/max_memory_reserved_gb")),
    "host memory (GiB)": Figure(verl=("perf/cpu_memory_used_gb", "actor/perf/cpu_memory_used_gb")),
}
PHASES = {
    "rollouts": Figure(verl=("timing_s/gen", "timing_s/generate_sequences"), skyrl=("timing/generate",)),
    "reward": Figure(verl=("timing_s/reward",)),
    "old log-probabilities": Figure(verl=("timing_s/old_log_prob",), skyrl=("timing/fwd_logprobs_values_reward",)),
    "reference": Figure(verl=("timing_s/ref", "timing_s/RefPolicy")),
    "values": Figure(verl=("timing_s/values",)),
    "advantages": Figure(verl=("timing_s/adv",), skyrl=("timing/compute_advantages_and_returns",)),
    "critic update": Figure(verl=("timing_s/update_critic",), skyrl=("timing/critic_train",)),
    "policy update": Figure(
        verl=("timing_s/update_actor",), skyrl=("timing/policy_train", "timing/train_critic_and_policy")
    ),
    "weight sync": Figure(verl=("timing_s/update_weights",), skyrl=("timing/sync_weights",)),
    "checkpoint": Figure(verl=("timing_s/save_checkpoint",), skyrl=("timing/save_checkpoints",)),
    "evaluation": Figure(verl=("timing_s/testing",), skyrl=("timing/eval",)),
}
"""The parts of a step. None lies inside another."""
