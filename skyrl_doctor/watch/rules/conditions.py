"""The bad figures of a step, as a table: for how many steps in a row, and what they mean.

The limits are the frameworks' own where they give one: `training/rollout_probs_diff_mean` above 0.01 (verl's FAQ);
`rollout_corr/*` (verl's page on rollout correction); a mismatch KL that should be below 0.01, and is 0.2 with a known fault
(prime-rl's source); a difference of log-probabilities up to 0.02 in healthy runs (SkyRL's tests).
"""

import functools
from collections.abc import Mapping
from dataclasses import field, replace

from skyrl_doctor.core.model import Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.watch.figures import (
    CANCELLED,
    CORRELATION,
    CUT,
    EFFECTIVE_SAMPLES,
    FAILED,
    GRADIENT,
    IMPORTANCE,
    KEPT_GROUPS,
    LOGPROBS_DIFF,
    MISMATCH_KL,
    PROBE_DIFFERENCE,
    PROBS_DIFF,
    REFERENCE_KL,
    SHORTEST,
    TOO_OLD,
    TRAINABLE,
    Figure,
)
from skyrl_doctor.watch.finding import Advice, Change
from skyrl_doctor.watch.read.steps import PRIME_RL, SKYRL, VERL
from skyrl_doctor.watch.rules.base import fix_config
from skyrl_doctor.watch.rules.faults import (
    Fault,
    above,
    all_alike,
    at_the_limit,
    below,
    compared,
    infinite,
    mask_ratio,
    not_a_number,
    nothing_to_learn,
    outside,
)
from skyrl_train.contracts.weight_limits import LEAST, LIMIT

NO_CALLS = Figure(own=("rollout_metrics/no_call_ratio",))
NO_CONTEXT = Figure(own=("rollout_metrics/context_exceed_ratio",))
LOOPS = Figure(own=("rollout_metrics/stuck_in_a_loop_ratio",))


@record(kw_only=True)
class Condition:
    """A fault of a step's figures. `advice_for` is the advice to the users of one framework, instead of `advice`.

    BEFORE in an advice stands for the first bad step. `advice_at_start` is the advice where no step came before it.
    """

    key: str
    fault: Fault
    expected: str
    after: int
    root: bool = False
    severity: Severity = Severity.WARNING
    advice: Advice | None = None
    advice_for: Mapping[str, Advice] = field(default_factory=dict)
    advice_at_start: Advice | None = None

    @property
    def id(self) -> str:
        """The id that its key begins with."""
        return self.key.partition(".")[0]

    def advise(self, trainer: str, first: int | None) -> Advice | None:
        """What to do. `first` is the first bad step; None where it is not known."""
        if first is not None and first <= FIRST_STEP and self.advice_at_start is not None:
            return self.advice_at_start
        advice = self.advice_for.get(trainer, self.advice)
        if advice is None:
            return None
        step = "the first bad step" if first is None else f"step {first}"
        return replace(advice, summary=advice.summary.replace(BEFORE, f"before {step}"))


BEFORE = "before STEP"
FIRST_STEP = 1
_root = functools.partial(Condition, root=True, severity=Severity.ERROR)
_LOWER = Change("actor.lr", times=1 / 3)
_LESS_LEARNING = fix_config(
    f"resume from a checkpoint {BEFORE} with a lower learning rate, or clip the gradient", _LOWER
)
_not_finite = functools.partial(
    _root,
    expected="finite numbers",
    advice=fix_config(
        f"resume from a checkpoint {BEFORE}: later ones may hold NaN too. Lower the learning rate, or clip the gradient",
        _LOWER,
    ),
    advice_at_start=fix_config(
        "no step was finite: check the precision (bf16 instead of fp16), the model's files and the log-probabilities "
        "of the engine"
    ),
)
_SAME_WEIGHTS = fix_config(
    "check that the engine has the trainer's weights and precision, and that both see the same tokens"
)
_PROVE = fix_config(
    "compare a server with the checkpoint that it should run: skyrl-train weights URL CHECKPOINT; check the sync, the "
    "adapter and a quantisation of the rollouts"
)
_MISMATCH: Mapping[str, Advice] = {
    VERL: fix_config(
        "check that the engine has the trainer's weights; compare precision and kernels; for off-policy data turn on "
        "algorithm.rollout_correction.rollout_is"
    ),
    PRIME_RL: fix_config(
        "check that the engine has the trainer's weights and the same attention kernels; lower "
        "orchestrator.max_off_policy_steps"
    ),
    SKYRL: fix_config(
        "check that the engine has the trainer's weights; for off-policy data set "
        "trainer.algorithm.off_policy_correction.tis_ratio_type"
    ),
}

CONDITIONS = (
    _not_finite(key="TRN005.metrics", fault=not_a_number, after=2),
    _not_finite(key="TRN005.infinite", fault=infinite, after=3),
    _root(
        key="TRN001.empty",
        fault=nothing_to_learn,
        expected="at least one token to train on",
        after=3,
        advice=fix_config("find out why the rollouts fail: check their finish reasons and the runtime's log"),
    ),
    Condition(
        key="AGT019.masked",
        fault=mask_ratio,
        expected="at most half of them",
        after=3,
        advice=fix_config("check the finish reasons of the masked rollouts"),
    ),
    Condition(
        key="AGT021.rewards",
        fault=all_alike,
        expected="different rewards: equal ones give no gradient",
        after=5,
        advice=fix_config("score a solved and an unsolved task by hand: the gold patch must get 1, no patch 0"),
    ),
    Condition(
        key="AGT021.gradient",
        fault=compared(lambda value: abs(value) < 1e-9, GRADIENT),
        expected="a gradient above 0",
        after=5,
        advice=fix_config("check rewards, masks and the learning rate: all advantages are 0"),
    ),
    _root(
        key="AGT016.logprob",
        fault=below(0.9, CORRELATION),
        expected="at least 0.99: trainer and inference use different tokens or weights",
        after=3,
        advice=fix_config("train on the engine's own tokens, and check that the engine has the trainer's weights"),
    ),
    Condition(
        key="AGT016.drift",
        fault=below(0.98, CORRELATION),
        expected="at least 0.99",
        after=5,
        advice=fix_config("compare the engine's tokens with the trainer's; check precision and weight sync"),
    ),
    Condition(
        key="TRN004.empty",
        fault=below(1.0, SHORTEST),
        expected="at least 1: the reward of an empty response goes to a padding token",
        after=3,
        advice=fix_config("mask empty responses"),
    ),
    Condition(
        key="AGT001.no-call",
        fault=above(0.5, NO_CALLS),
        expected="at most 0.5",
        after=3,
        severity=Severity.ERROR,
        advice=fix_config("show the model the XML form of a call in its prompt"),
    ),
    _root(
        key="AGT015.no-calls",
        fault=above(0.95, NO_CALLS),
        expected="at most 0.95: this model makes no calls",
        after=2,
        advice=fix_config("use a model that was trained to call tools"),
    ),
    Condition(
        key="AGT019.context",
        fault=above(0.5, NO_CONTEXT),
        expected="at most 0.5",
        after=3,
        advice=fix_config(
            "raise the context length, or cut the tools' output shorter",
            Change("agent.observation_max_chars", times=0.5),
        ),
    ),
    Condition(
        key="AGT019.loops",
        fault=above(0.3, LOOPS),
        expected="at most 0.3",
        after=3,
    ),
    Condition(
        key="AGT019.clipped",
        fault=above(0.5, CUT),
        expected="at most 0.5: cut responses earn no reward",
        after=5,
        advice=fix_config("raise the longest response, and the context with it"),
    ),
    Condition(
        key="AGT019.at-limit",
        fault=at_the_limit,
        expected="a mean well below the longest: cut responses earn no reward",
        after=5,
        advice=fix_config("raise the longest response, and the context with it"),
    ),
    Condition(
        key="AGT016.probs",
        fault=above(0.01, PROBS_DIFF),
        expected="below 0.005",
        after=5,
        advice=_SAME_WEIGHTS,
        advice_for=_MISMATCH,
    ),
    Condition(
        key="AGT016.kl",
        fault=compared(lambda value: abs(value) > 0.1, MISMATCH_KL),
        expected="below 0.01 on policy, and at most 0.1",
        after=5,
        advice=_SAME_WEIGHTS,
        advice_for=_MISMATCH,
    ),
    Condition(
        key="AGT016.kl-large",
        fault=compared(lambda value: abs(value) > 1.0, MISMATCH_KL),
        expected="at most 0.1: the engine has other weights or sees other tokens",
        after=2,
        severity=Severity.ERROR,
        advice=_SAME_WEIGHTS,
        advice_for=_MISMATCH,
    ),
    Condition(
        key="AGT016.log-probs",
        fault=above(0.1, LOGPROBS_DIFF),
        expected="about 0.02",
        after=5,
        advice=_SAME_WEIGHTS,
        advice_for=_MISMATCH,
    ),
    Condition(
        key="TRN021.drift",
        fault=above(LEAST, PROBE_DIFFERENCE),
        expected=f"at most {LEAST:g}, and about 0.005 in bfloat16: the servers' weights move away from the trainer's",
        after=3,
        advice=_PROVE,
    ),
    _root(
        key="TRN021.difference",
        fault=compared(lambda value: not value <= LIMIT, PROBE_DIFFERENCE),
        expected=f"at most {LIMIT:g}: the servers run other weights than the trainer",
        after=2,
        advice=_PROVE,
    ),
    Condition(
        key="AGT016.samples",
        fault=below(0.3, EFFECTIVE_SAMPLES),
        expected="at least 0.3: few samples have most of the weight",
        after=5,
        advice=_SAME_WEIGHTS,
        advice_for=_MISMATCH,
    ),
    Condition(
        key="AGT016.importance",
        fault=outside(0.5, 2.0, IMPORTANCE),
        expected="about 1 (0.5 to 2)",
        after=5,
        advice=_SAME_WEIGHTS,
        advice_for=_MISMATCH,
    ),
    Condition(
        key="AGT016.stale",
        fault=above(0.5, CANCELLED),
        expected="at most 0.5: rollouts are dropped when they are too old or the inference servers are overloaded",
        after=5,
        advice=fix_config("raise orchestrator.max_off_policy_steps, or give the inference servers more of the GPUs"),
    ),
    Condition(
        key="AGT016.too-old",
        fault=above(0.0, TOO_OLD),
        expected="0: these rollouts are older than the limit",
        after=3,
        advice=fix_config(
            "lower trainer.fully_async.num_parallel_generation_workers; trainer.fully_async.max_staleness_steps is "
            "the limit"
        ),
    ),
    Condition(
        key="AGT019.reference",
        fault=above(10.0, REFERENCE_KL),
        expected="at most 10: the policy has left the reference model",
        after=3,
        advice=_LESS_LEARNING,
    ),
    Condition(
        key="AGT019.errors",
        fault=above(0.5, FAILED),
        expected="at most 0.05: these rollouts ended with an error",
        after=3,
        advice=fix_config("read the errors in the logs of the environments"),
    ),
    Condition(
        key="AGT021.groups",
        fault=below(0.1, TRAINABLE),
        expected="at least 0.1: a group with equal rewards gives no gradient",
        after=5,
        advice=fix_config("use tasks that the model solves sometimes; check the reward by hand on a solved task"),
    ),
    Condition(
        key="AGT021.kept",
        fault=below(0.1, KEPT_GROUPS),
        expected="at least 0.1: a group with equal rewards gives no gradient",
        after=5,
        advice=fix_config("use tasks that the model solves sometimes; check the reward by hand on a solved task"),
    ),
)
