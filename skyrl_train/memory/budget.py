"""The memory budget of a run: the use in each phase, the peak, and whether it fits."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from skyrl_train.memory.device import Device
from skyrl_train.memory.job import Job, Rollout
from skyrl_train.memory.shape import ModelShape
from skyrl_train.memory.tape import Component, Played
from skyrl_train.memory.trainer import Phase, trainer_phases
from skyrl_train.memory.units import GIB, MIB, gib
from skyrl_train.memory.vllm import Engine, engine_of

# Measured on an H200 after a process had run its first case: the device's memory in use that is not torch's (context,
# NCCL, cuBLAS, compiled kernels, and what the driver keeps).
CONTEXT = round(1.28 * GIB)
# Measured under limits: when memory is short, torch releases its cache, and the unusable rest is below this share
# (a run that allocated 23.84 GiB fitted 24, one of 46.68 GiB fitted 48, one of 19.77 GiB fitted 20).
SLACK = 0.005
BAND = 0.05
MOST_SHARE = 0.95  # a larger gpu_memory_utilization leaves nothing for what the driver and other processes take
# Kinds of models and trainers that no calibration run covers.
WIDE_BAND = 0.2
# Between these verl does not empty torch's cache, so that its pools only grow (engine_workers.py update_weights does).
WITHOUT_EMPTYING = (
    Phase.LOG_PROB,
    Phase.REFERENCE,
    Phase.VALUES,
    Phase.CRITIC_UPDATE,
    Phase.UPDATE_FIRST,
    Phase.UPDATE,
)


class PhaseBudget(NamedTuple):
    """The peak of one phase: bytes by component, over all processes on the GPU."""

    phase: Phase
    components: Mapping[Component, int]
    pooled: int = 0  # sum of the allocator's pools, each at its peak since the cache was last emptied

    @property
    def total(self) -> int:
        return sum(self.components.values())

    @property
    def allocated(self) -> int:
        """The bytes that torch's allocator in the trainer reports as allocated."""
        outside = (Component.SLACK, Component.CONTEXT, Component.VLLM)
        return sum(size for component, size in self.components.items() if component not in outside)

    @property
    def reserved(self) -> int:
        """The bytes that torch reports as reserved if memory is not short; otherwise it releases what no pool uses."""
        return max(self.pooled, self.allocated) + self.components.get(Component.SLACK, 0)


class Budget(NamedTuple):
    """The bytes that one GPU needs in each phase, and the bytes that it has."""

    device: Device
    phases: tuple[PhaseBudget, ...]
    engine: Engine | None
    problems: tuple[
        str, ...
    ] = ()  # failures that do not depend on the peak, such as a KV cache too small for one sequence
    spread: float = BAND
    free: int | None = None  # bytes of the device that the run can use, where other programs have the rest

    @property
    def limit(self) -> int:
        """The bytes that the run can use."""
        return _limit(self.device, self.free)

    @property
    def trainer_peak(self) -> PhaseBudget:
        """The phase in which the trainer's allocator has its peak."""
        return max(self.phases, key=lambda phase: phase.allocated)

    @property
    def peak(self) -> PhaseBudget:
        """The phase in which the GPU has its peak."""
        return max(self.phases, key=lambda phase: phase.total)

    @property
    def band(self) -> tuple[float, float]:
        """The range of the peak in bytes: narrow where calibration runs cover the model and the trainer."""
        return self.peak.total * (1 - self.spread), self.peak.total * (1 + self.spread)

    @property
    def is_measured(self) -> bool:
        """Whether calibration runs cover the model and the trainer."""
        return self.spread <= BAND

    @property
    def fits(self) -> bool:
        return not self.problems and self.peak.total <= self.limit

    @property
    def sure(self) -> bool:
        """Whether the verdict is the same at both ends of the band."""
        low, high = self.band
        return bool(self.problems) or high <= self.limit or low > self.limit

    @property
    def room(self) -> int:
        """Free bytes at the peak; negative if bytes are missing."""
        return self.limit - self.peak.total

    def as_json(self) -> dict[str, Any]:
        low, high = self.band
        engine = self.engine
        return {
            "schema": 1,
            "trainer": {
                "peak_allocated_gib": _gib(self.trainer_peak.allocated),
                "peak_reserved_gib": _gib(max(phase.reserved for phase in self.phases)),
                "phase": str(self.trainer_peak.phase),
                "phases": {
                    str(phase.phase): {str(part): _gib(size) for part, size in phase.components.items()}
                    for phase in self.phases
                },
            },
            "vllm": {
                "weights_gib": _gib(engine.weights if engine else 0),
                "kv_gib": _gib(engine.kv if engine else 0),
                "graphs_gib": _gib(engine.graphs if engine else 0),
                "asleep_gib": _gib(engine.asleep if engine else 0),
            },
            "device": {
                "peak_gib": _gib(self.peak.total),
                "band_gib": [_gib(low), _gib(high)],
                "phase": str(self.peak.phase),
                "limit_gib": _gib(self.limit),
                "fits": self.fits,
            },
        }


def budget(shape: ModelShape, job: Job, device: Device, *, free: int | None = None) -> Budget:
    """Simulates the run phase by phase and adds up what shares the GPU in each.

    `free` is the memory of the device that the run can use, where other programs have the rest.
    """
    limit = _limit(device, free)
    engine = engine_of(shape, job.rollout, device, job.longest) if job.rollout is not None else None
    apart = job.rollout if job.rollout is not None and job.rollout.separate else None
    played = trainer_phases(shape, job)
    pools = _pooled(played, job)
    phases = tuple(
        PhaseBudget(phase, _with_surroundings(phase, simulated.peak, job, engine, limit), pools[phase])
        for phase, simulated in played.items()
    )
    problems = tuple(_problems(device, limit, phases, engine, apart=apart))
    return Budget(device, phases, engine, problems, _spread(shape, job), free)


def _limit(device: Device, free: int | None) -> int:
    return device.total if free is None else min(free, device.total)


def _spread(shape: ModelShape, job: Job) -> float:
    return BAND if shape.is_measured and job.strategy != "megatron" else WIDE_BAND


def _pooled(played: Mapping[Phase, Played], job: Job) -> dict[Phase, int]:
    """The peak of each phase's pools, carried over between phases in which the cache is not emptied."""
    found, carried = {}, dict[str, int]()
    for phase, simulated in played.items():
        grows = phase in WITHOUT_EMPTYING and not job.param_offload  # offload_fsdp_model_to_cpu empties the cache
        before = carried if grows else {}
        pools = {pool: max(before.get(pool, 0), simulated.pools.get(pool, 0)) for pool in {*before, *simulated.pools}}
        found[phase] = sum(pools.values())
        carried = pools if grows and phase is not Phase.UPDATE_FIRST else carried
    return found


def _with_surroundings(
    phase: Phase, parts: Mapping[Component, int], job: Job, engine: Engine | None, limit: int
) -> dict[Component, int]:
    if phase is Phase.ROLLOUT and engine is not None and job.rollout is not None and job.rollout.separate:
        return {Component.VLLM: engine.awake, **_receiver(job.rollout, engine)}
    found = dict(parts)
    found[Component.SLACK] = round(SLACK * sum(parts.values()))
    found[Component.CONTEXT] = CONTEXT
    found[Component.VLLM] = _vllm_in(phase, job, engine)
    summoned = found.pop(Component.SUMMONED, 0)
    if summoned and job.rollout is not None:  # a 7B model needed 48 GiB for it where it took 54 on an empty GPU
        room = max(job.rollout.bucket_mib * MIB, limit - sum(found.values()))
        found[Component.SUMMONED] = min(summoned, room)
    return {part: size for part, size in found.items() if size}


def _receiver(rollout: Rollout, engine: Engine) -> dict[Component, int]:
    """verl's process beside a separate engine: it receives weights while an engine that sleeps has given its cache back."""
    if not rollout.buckets:
        return {}
    more = rollout.buckets * rollout.bucket_mib * MIB - (engine.kv if rollout.sleeps else 0)
    return {Component.CONTEXT: CONTEXT, **({Component.BUCKET: more} if more > 0 else {})}


def _vllm_in(phase: Phase, job: Job, engine: Engine | None) -> int:
    if engine is None or job.rollout is None or job.rollout.separate or phase is Phase.LOAD:
        return 0
    if phase is Phase.ROLLOUT or not job.rollout.sleeps:
        return engine.awake
    return engine.syncing if phase is Phase.WEIGHT_SYNC else engine.asleep


def _problems(
    device: Device, limit: int, phases: tuple[PhaseBudget, ...], engine: Engine | None, *, apart: Rollout | None
) -> Iterator[str]:
    if engine is None:
        return
    # vllm/v1/worker/utils.py request_memory: refuses to start. verl starts it after the trainer has loaded.
    loaded = next(phase for phase in phases if phase.phase is Phase.LOAD)
    resting = loaded.allocated - loaded.components.get(Component.GATHERED, 0)
    beside = resting + CONTEXT if apart is None else CONTEXT if apart.buckets else 0
    free = limit - engine.context - beside
    if engine.requested > free:
        whom = "the trainer's weights" if apart is None else "the process that receives weights"
        yield f"vLLM cannot start: {_free(free, limit, device, whom, engine)}"
    if engine.kv < engine.kv_needed:
        yield f"gpu_memory_utilization gives vLLM {gib(engine.requested):.1f} GiB{_short_of_cache(engine, device, free)}"


def _free(free: int, limit: int, device: Device, whom: str, engine: Engine) -> str:
    if free <= 0:
        has = f"{gib(limit):.1f} GiB{' free' if limit < device.total else ''}"
        return f"the trainer's weights alone need {gib(limit - free):.0f} GiB of a GPU that has {has}"
    return f"it requests {gib(engine.requested):.1f} GiB, but only {gib(free):.1f} GiB of {gib(device.total):.1f} GiB are free next to {whom}"


def _short_of_cache(engine: Engine, device: Device, free: int) -> str:
    """What the share lacks for the cache of one sequence, and what helps: no length does where the rest fills the share."""
    share = math.ceil((engine.fixed + engine.kv_needed) / device.total * 100) / 100
    raised = [f"raise it to {share:.2f}"] if share <= MOST_SHARE and share * device.total <= free else []
    if engine.kv:
        more = [] if raised or device.is_slice else ["use more GPUs for each engine"]
        needs = f" and leaves {gib(engine.kv):.2f} GiB for the KV cache, but one sequence of the full length needs {gib(engine.kv_needed):.2f} GiB"
        return f"{needs}; {', or '.join([*raised, 'lower max_model_len', *more])}"
    more = (
        []
        if device.is_slice and raised
        else ["use a larger slice or a whole GPU" if device.is_slice else "use more GPUs for each engine"]
    )
    needs = f", but its weights need {gib(engine.weights):.1f} GiB and a forward pass {gib(engine.fixed - engine.weights):.1f} GiB"
    return f"{needs}; {', or '.join([*raised, *more])}"


def _gib(size: float) -> float:
    return round(gib(size), 3)
