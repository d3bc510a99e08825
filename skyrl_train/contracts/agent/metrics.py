"""Counts the rollouts of a step or a run, and computes SkyRL's metrics from the counts."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from skyrl_train.contracts.agent.calls import Call, CallError, CallErrorKind
from skyrl_train.contracts.agent.finish import Finish
from skyrl_train.contracts.agent.outages import MOST_CAUSES, Outage, merged
from skyrl_train.contracts.agent.transcript import Step, Transcript
from skyrl_train.contracts.rewards.score import Scored

NO_CALL = frozenset({CallErrorKind.NO_CALL, CallErrorKind.CALL_IN_THINKING, CallErrorKind.STRAY_TEXT})
"""Errors of a model that does not know the format of a call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Counts that add up over steps with `a + b`. A rollout with score 1 resolves its task."""

    rollouts: int = 0
    turns: int = 0
    calls: int = 0
    no_calls: int = 0
    unknown_tools: int = 0
    empty_replies: int = 0
    masked: int = 0
    masked_with_reward: int = 0
    scored: int = 0
    reward: float = 0.0
    tasks: int = 0
    all_resolved: int = 0
    none_resolved: int = 0
    outages: int = 0
    outage_s: float = 0.0
    outage_causes: dict[str, int] = field(default_factory=dict)
    ends: dict[Finish, int] = field(default_factory=dict)

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(**{f.name: _added(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)})


def _added(one: Any, other: Any) -> Any:
    """The sum of two numbers, or of the numbers under each key of two mappings."""
    if not isinstance(one, dict):
        return one + other
    return {key: one.get(key, 0) + other.get(key, 0) for key in {**one, **other}}


def of_outages(outages: Iterable[Outage]) -> Counts:
    """The counts of a step's outages, without its rollouts."""
    found = merged(outages)
    causes = dict(Counter(one.why for one in found).most_common(MOST_CAUSES))
    return Counts(outages=len(found), outage_s=sum(one.seconds for one in found), outage_causes=causes)


def count(transcripts: Iterable[Transcript]) -> Counts:
    """The counts of all rollouts of a step."""
    return in_groups((transcript.task_id, count_one(transcript)) for transcript in transcripts)


def in_groups(rollouts: Iterable[tuple[str, Counts]]) -> Counts:
    """The sum of counts of single rollouts, each given with its task."""
    resolved: dict[str, list[bool]] = {}
    total = Counts()
    for task, counts in rollouts:
        resolved.setdefault(task, []).append(counts.reward == 1.0)
        total += counts
    return total + Counts(
        tasks=len(resolved),
        all_resolved=sum(all(group) for group in resolved.values()),
        none_resolved=sum(not any(group) for group in resolved.values()),
    )


def count_one(transcript: Transcript) -> Counts:
    """The counts of one rollout; its task is not counted."""
    reward = _reward(transcript)
    return Counts(
        rollouts=1,
        turns=len(transcript.steps),
        calls=sum(isinstance(step.call, Call) for step in transcript.steps),
        no_calls=_errors(transcript.steps, NO_CALL),
        unknown_tools=_errors(transcript.steps, {CallErrorKind.UNKNOWN_TOOL}),
        empty_replies=_errors(transcript.steps, {CallErrorKind.EMPTY_REPLY}),
        masked=int(transcript.masked),
        masked_with_reward=int(transcript.masked and bool(reward)),
        scored=int(reward is not None),
        reward=reward or 0.0,
        ends={transcript.finish: 1},
    )


def _errors(steps: Sequence[Step], kinds: Iterable[CallErrorKind]) -> int:
    return sum(isinstance(step.call, CallError) and step.call.kind in kinds for step in steps)


def _reward(transcript: Transcript) -> float | None:
    return transcript.score.reward if isinstance(transcript.score, Scored) else None


def figures(counts: Counts) -> dict[str, float]:
    """The metrics that SkyRL logs, two for the doctor's watch, `rollouts` and `no_call_ratio`, and the survived outages.

    A ratio with denominator 0 is left out.
    """
    ends = counts.ends
    rollouts = counts.rollouts
    ratios = {
        "finish_tool_ratio": (ends.get(Finish.FINISH_TOOL, 0), rollouts),
        "context_exceed_ratio": (ends.get(Finish.CONTEXT_WINDOW_EXCEEDED, 0), rollouts),
        "iter_cap_ratio": (ends.get(Finish.MAX_ITERATIONS_REACHED, 0), rollouts),
        "stuck_in_a_loop_ratio": (ends.get(Finish.STUCK_IN_A_LOOP, 0), rollouts),
        "no_call_ratio": (counts.no_calls, counts.turns),
        "avg_turn_assistant": (counts.turns, rollouts),
        "raw_reward": (counts.reward, counts.scored),
    }
    numbers = {
        "rollouts": rollouts,
        "error_runtime": ends.get(Finish.ERROR_RUNTIME, 0),
        "error_evaluation": ends.get(Finish.ERROR_EVALUATION, 0),
        "bad_llm_response": ends.get(Finish.BAD_LLM_RESPONSE, 0),
        "num_mask_out": counts.masked,
        "num_mask_non_zero_reward": counts.masked_with_reward,
        "num_empty_messages": counts.empty_replies,
        "num_all_resolved": counts.all_resolved,
        "num_none_resolved": counts.none_resolved,
        "outages": counts.outages,
        "outage_s": counts.outage_s,
    }
    known = {name: part / whole for name, (part, whole) in ratios.items() if whole}
    return {f"rollout_metrics/{name}": float(value) for name, value in {**known, **numbers}.items()}
