"""Predicted against measured, each configuration left out in turn: `python -m benchmarks.calibration.evaluate`.

The allocated peaks have no fitted constant: they are counted from the code that allocates. Two constants are measured and
not counted, how much torch reserves beside what it allocates and what a process takes outside torch; here each
configuration is predicted with what the others say of them. `--phases` prints every phase.
"""

import argparse
import json
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.calibration import kinds
from skyrl_train.memory import (
    GIB,
    Component,
    Device,
    Job,
    Phase,
    PhaseBudget,
    Rollout,
    budget,
    device_of_size,
    expected_job,
    job_from_verl,
    shape_from_config,
)
from skyrl_train.memory.budget import CONTEXT, SLACK

FOLDER = Path(__file__).parent
ENOUGH = 32
"""Samples of mixed lengths, fewer of which have no percentiles."""
LIMITS_GIB = (20, 24, 40, 48, 80)
NAMES = {
    "load": Phase.LOAD,
    "idle_2": Phase.ROLLOUT,
    "log_prob_2": Phase.LOG_PROB,
    "ref_log_prob_2": Phase.REFERENCE,
    "values_2": Phase.VALUES,
    "update_critic_2": Phase.CRITIC_UPDATE,
    "update_1": Phase.UPDATE_FIRST,
    "update_2": Phase.UPDATE,
    "weight_sync_2": Phase.WEIGHT_SYNC,
    "checkpoint": Phase.CHECKPOINT,
}
WHOLE = ("log_prob_2", "ref_log_prob_2", "values_2", "update_critic_2", "update_1", "update_2", "weight_sync_2")
"""The phases whose fullest is the run's peak, as verl's max_memory_allocated after the second step has it."""


@dataclass(frozen=True)
class Point:
    """A configuration: what was measured of it and what is predicted."""

    line: Mapping[str, Any]
    job: Job
    phases: Mapping[Phase, PhaseBudget]

    @property
    def id(self) -> str:
        return str(self.line["id"])

    def measured(self, name: str, what: str) -> float | None:
        phase = self.line["phases"].get(name)
        return None if phase is None else float(phase["peak"][f"{what}_gib"])

    def peak(self, what: str) -> float:
        """GiB measured at the fullest phase of the second step."""
        found = [self.measured(name, what) for name in WHOLE]
        return max(value for value in found if value is not None)

    @property
    def allocated(self) -> float:
        """GiB predicted."""
        found = [self.phases[NAMES[name]].allocated for name in WHOLE if name in self.line["phases"]]
        return max(found) / GIB

    @property
    def pooled(self) -> float:
        """GiB of the allocator's pools at their fullest, predicted."""
        measured = self.line["phases"] or NAMES
        found = [self.phases[NAMES[name]] for name in WHOLE if name in measured and NAMES[name] in self.phases]
        return max(max(phase.pooled, phase.allocated) for phase in found) / GIB

    def by_phase(self) -> Iterator[tuple[str, float, float]]:
        """(phase, predicted, measured) in GiB allocated, of what was measured to hold anything."""
        for name, phase in NAMES.items():
            found = self.measured(name, "allocated")
            if found and phase in self.phases:
                yield name, self.phases[phase].allocated / GIB, found

    @property
    def off(self) -> float:
        """Share by which the allocated peak is predicted too high."""
        return self.allocated / self.peak("allocated") - 1


def read(files: Sequence[Path]) -> list[Mapping[str, Any]]:
    return [json.loads(text) for file in files for text in file.read_text().splitlines() if text.strip()]


def job_of(line: Mapping[str, Any]) -> Job:
    """The job as it really ran: with the lengths of its samples."""
    gpus = {"trainer.n_gpus_per_node": line["gpus"], "actor_rollout_ref.rollout.tensor_model_parallel_size": 1}
    job = job_from_verl({**line["job"], **gpus})
    lengths, flash = line["lengths"], bool(line.get("flash_attn"))
    longest = max(lengths)
    if job.remove_padding:  # packed: what counts is the fullest micro batch
        longest = max(-(-sum(group) // len(group)) for group in micro_batches(lengths, job))
    return replace(
        job,
        sequence_length=longest,
        equal_lengths=len(set(lengths)) == 1,
        attention="flash_attention_2" if flash else job.attention,
        flash_cross_entropy=line.get("cross_entropy") == "flash_attn",
        rollout=job.rollout and replace(job.rollout, tensor_parallel=1),
    )


def micro_batches(lengths: Sequence[int], job: Job) -> Iterator[Sequence[int]]:
    """The lengths of each micro batch, on each of the ranks that samples are dealt out to. A dynamic one is the rank's batch."""
    ranks = job.n_gpus // job.sequence_parallel
    for rank in range(ranks):
        own = lengths[rank::ranks]
        if job.max_tokens is not None:
            yield own
            continue
        yield from (own[start : start + job.micro_batch] for start in range(0, len(own), job.micro_batch))


def expected_off(line: Mapping[str, Any]) -> float:
    """Share by which the expected figure of a run of mixed lengths is too high."""
    prompts, replies = (kinds.quantiles(each) for each in zip(*kinds.samples(line), strict=True))
    job = replace(expected_job(job_of(line), prompts, replies), sequence_length=None)
    found = budget(shape_from_config(line["model"]), job, device_of_size("10000GiB"))
    return Point(line, job, {phase.phase: phase for phase in found.phases}).off


def rows(points: Sequence[Point]) -> list[kinds.Row]:
    """Full lengths by the worst case; mixed lengths by the expected figure.

    That figure is for packed sequences, and needs enough samples for a median and a 99th percentile.
    """
    made = [kinds.Row(each.line, each.off) for each in points if len(set(each.line["lengths"])) == 1]
    mixed = [
        each
        for each in points
        if len(set(each.line["lengths"])) > 1 and each.job.remove_padding and len(each.line["lengths"]) >= ENOUGH
    ]
    return made + [kinds.Row(each.line, expected_off(each.line)) for each in mixed]


def point(line: Mapping[str, Any]) -> Point:
    job = job_of(line)
    found = budget(shape_from_config(line["model"]), job, device_of_size("10000GiB"))
    return Point(line, job, {phase.phase: phase for phase in found.phases})


def slack(points: Sequence[Point]) -> float:
    """What torch reserves beside its pools at their fullest, as a share of them: the middle of the points."""
    return statistics.median(point.peak("reserved") / point.pooled - 1 for point in points)


def reserved_without(points: Sequence[Point], left_out: Point) -> float:
    """GiB reserved, by what the other configurations say."""
    return left_out.pooled * (1 + slack([other for other in points if other.id != left_out.id]))


def wrong_verdicts(points: Sequence[Point]) -> list[str]:
    """Limits at which the prediction says another thing than the measurement: none may be.

    What was reserved without a limit fits for sure, and less than what was allocated does not; between the two only a run
    under that limit can tell.
    """
    return [
        f"{each.id}: predicted {each.allocated:.2f} against {limit} GiB"
        for each in points
        for limit in LIMITS_GIB
        if (each.allocated * (1 + SLACK) > limit >= each.peak("reserved"))
        or (each.allocated * (1 + SLACK) <= limit < each.peak("allocated"))
    ]


def limited(lines: Sequence[Mapping[str, Any]]) -> list[tuple[str, float, float, bool, bool]]:
    """(id, limit, predicted, said to fit, did fit) of the runs under a limit, the GPU's own among them."""
    rows = []
    for line in lines:
        limit = line["limit_gib"] or line["gpu"]["total_gib"] - CONTEXT / GIB
        whole = Device("limit", round(limit * GIB) + CONTEXT)  # the cap is on what torch reserves
        found = budget(shape_from_config(line["model"]), replace(job_of(line), rollout=Rollout(sleeps=True)), whole)
        phases = [phase for phase in found.phases if phase.phase is not Phase.CHECKPOINT]
        predicted = max(phase.allocated + phase.components[Component.SLACK] for phase in phases) / GIB
        rows.append((str(line["id"]), limit, predicted, predicted <= limit, line["outcome"] == "ok"))
    return rows


def split(lines: Sequence[Mapping[str, Any]]) -> tuple[list[Point], list[Mapping[str, Any]]]:
    """The runs without a limit, two steps of which were measured, and those that a limit decided."""
    runs = [line for line in lines if line["kind"] == "engine" and line["outcome"] in ("ok", "oom")]
    free = [line for line in runs if not line["limit_gib"] and line["outcome"] == "ok"]
    return [point(line) for line in free], [line for line in runs if line["limit_gib"] or line["outcome"] == "oom"]


def summary(points: Sequence[Point]) -> dict[str, float]:
    """The figures that are promised: medians and the worst, as shares."""
    allocated = [abs(each.off) for each in points]
    reserved = [abs(reserved_without(points, each) / each.peak("reserved") - 1) for each in points]
    return {
        "allocated_median": statistics.median(allocated),
        "allocated_worst": max(allocated),
        "reserved_median": statistics.median(reserved),
        "reserved_worst": max(reserved),
    }


def _print_phases(each: Point) -> None:
    for name, predicted, found in each.by_phase():
        print(f"    {name:<18}{predicted:8.2f}{found:9.2f}{predicted / found - 1:+9.1%}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, default=sorted(FOLDER.glob("*.jsonl")))
    parser.add_argument("--phases", action="store_true", help="every phase of every run")
    args = parser.parse_args()
    lines = read(args.files)
    points, under = split(lines)
    if not points:
        print("no measured configuration yet")
        return 1
    print(f"{'configuration':<40}{'predicted':>10}{'measured':>10}{'off':>8}{'reserved':>10}{'measured':>10}{'off':>8}")
    for each in points:
        reserved, found = reserved_without(points, each), each.peak("reserved")
        print(
            f"{each.id:<40}{each.allocated:10.2f}{each.peak('allocated'):10.2f}{each.off:+8.1%}"
            f"{reserved:10.2f}{found:10.2f}{reserved / found - 1:+8.1%}"
        )
        if args.phases:
            _print_phases(each)
    for name, value in summary(points).items():
        print(f"{name:<20}{value:6.1%}")
    print("\n".join(kinds.table(rows(points))))
    print(f"slack {slack(points):.1%}; wrong verdicts at {LIMITS_GIB} GiB: {wrong_verdicts(points) or 'none'}")
    for name, limit, predicted, said, did in limited(under):
        print(f"{name:<40} limit {limit:6.1f} predicted {predicted:7.2f} {'fits' if said else 'too big':<8} "
              f"{'ok' if did else 'out of memory':<14}{'' if said == did else 'WRONG'}")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
