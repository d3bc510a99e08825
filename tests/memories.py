"""Budgets for the tests of MEM checks: round figures in GiB, not the memory model's."""

from skyrl_doctor.facts.gpu.budget import GpuBudget
from skyrl_train.memory import (
    GIB,
    Budget,
    Component,
    Device,
    Engine,
    Job,
    Phase,
    PhaseBudget,
    Rollout,
    shape_from_config,
)
from skyrl_train.memory.known import known_config

MODEL = "Qwen/Qwen2.5-0.5B"
SHAPE = shape_from_config(known_config(MODEL) or {})


def engine(requested: float = 8, weights: float = 2, kv: float = 5, needed: float = 1) -> Engine:
    sizes = (requested, weights, 0.5, kv, 0.0, 0.5, needed)
    return Engine(*(round(size * GIB) for size in sizes), kv_tokens=round(kv * 1000))


def memory(
    *,
    total: float = 20,
    free: float | None = None,
    kept: float = 8,
    update: float = 10,
    rollout: float = 9,
    sync: float = 6,
    vllm: Engine | None = None,
    sleeps: bool = True,
    expected: float | None = None,
    spread: float = 0.05,
) -> GpuBudget:
    """A device of `total` GiB and a run with phases of these sizes, all of them weights beside vLLM's share."""
    made = engine() if vllm is None else vllm
    sizes = {Phase.UPDATE: update, Phase.WEIGHT_SYNC: sync}
    phases = [PhaseBudget(phase, {Component.WEIGHTS: round(size * GIB)}) for phase, size in sizes.items()]
    parts = {Component.WEIGHTS: round(rollout * GIB) - made.awake, Component.VLLM: made.awake}
    phases.append(PhaseBudget(Phase.ROLLOUT, parts))
    job = Job(prompt_length=1024, response_length=1024, rollout=Rollout(sleeps=sleeps))
    left = None if free is None else round(free * GIB)
    likely = None
    if expected is not None:
        phase = PhaseBudget(Phase.UPDATE, {Component.WEIGHTS: round(expected * GIB)})
        likely = Budget(Device("H0", round(total * GIB)), (phase,), made, free=left)
    return GpuBudget(
        model=MODEL,
        shape_from="here",
        shape=SHAPE,
        job=job,
        budget=Budget(Device("H0", round(total * GIB)), tuple(phases), made, spread=spread, free=left),
        expected=likely,
        lengths="" if likely is None else "prompts 100 to 200 tokens, replies at their limit",
        kept=round(kept * GIB),
    )
