"""Rough figures that `budget` adds to the memory of the GPU: the memory of the host, and the time of a step."""

from collections.abc import Iterator

from skyrl_doctor.facts.gpu.budget import GpuBudget, in_gib
from skyrl_doctor.plan.model import Plan
from skyrl_train.memory import StepTime

TURNS = "env.max_steps"
"""verl-agent's turns of a rollout, of which each has a reply of its own."""
LEAST = 0.005
"""A smaller part of a step is not printed."""
MEASURED = "measured steps took half to twice as long; the share of rollouts was up to 15 points off"
"""tests/benchmarks/test_step_time.py holds both figures."""
NOT_MEASURED = "no step of this kind was measured: the time and its parts are a guess"


def beside_lines(plan: Plan, memory: GpuBudget) -> Iterator[str]:
    host, seconds = memory.host, memory.seconds
    if host is not None:
        parts = {
            "states kept there": host.states,
            "activations": host.activations if host.activations >= host.loading else 0,
            "weights while they are read": host.loading if host.loading > host.activations else 0,
            "processes": host.processes,
        }
        text = ", ".join(f"{name} {in_gib(size)}" for name, size in parts.items() if size)
        yield f"host:    about {in_gib(host.total)} for each GPU ({text})"
    if seconds is not None and seconds.total:
        yield f"time:    {_step_time(memory, seconds)} ({', '.join(_shares(seconds))})"
        yield f"note:    {MEASURED if seconds.measured else NOT_MEASURED}"
        turns = plan.own.get(TURNS)
        if turns is not None and not turns.unknown and isinstance(turns.value, int) and turns.value > 1:
            yield f"note:    this is the time of one turn; a rollout has up to {turns.value} ({TURNS})"
        if not memory.replies_known and seconds.rollout:
            yield "note:    a better estimate of the time needs the lengths of replies: --reply-tokens P50,P99"
    elif memory.time_needs_lengths:
        yield "time:    needs the lengths of samples: --prompt-tokens P50,P99 and --reply-tokens P50,P99"


def _step_time(memory: GpuBudget, seconds: StepTime) -> str:
    if seconds.rollout == 0:
        return f"about {_duration(seconds.total)} a step"
    if memory.replies_known:
        return f"about {_duration(seconds.total)} a step without the time of tools"
    reply = memory.job.response_length
    return f"{_duration(seconds.total)} a step without the time of tools, if each reply has all {reply} tokens"


def _shares(seconds: StepTime) -> Iterator[str]:
    parts = {
        "rollouts": seconds.rollout,
        "log-probs": seconds.log_prob,
        "update": seconds.update,
        "weight sync": seconds.weight_sync,
    }
    whole = sum(parts.values())
    yield from (f"{name} {share / whole:.0%}" for name, share in parts.items() if share >= LEAST * whole)
    if seconds.apart:
        yield "rollouts and training at the same time"


def _duration(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 600 else f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
