"""The order in which things run, and what of them is held against what was wanted."""

import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.calibration.main_ppo import causes
from benchmarks.training_gpu import compare, prepare, toy
from benchmarks.training_gpu.cases import OURS, OWN, Case
from benchmarks.training_gpu.compare import STEP
from benchmarks.training_gpu.memory import Memory
from benchmarks.training_gpu.runs import Run, start

LIMIT_S, SMALL_S = 1200.0, 600.0
"""Of any run, and of one of the small case: a failed weight sync waits for ever."""
Found = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Bench:
    """Where everything is, and until when."""

    folder: Path
    out: Path
    tell: Callable[[dict[str, Any]], None]
    memory: Memory
    end: float
    on_cpu: bool
    runs: list[Run] = field(default_factory=list)

    def __enter__(self) -> "Bench":
        return self

    def __exit__(self, *_: object) -> None:
        """However it ends, nothing that it started lives on."""
        for run in self.runs:
            if run.exit is None:
                run.end()

    def left(self, limit_s: float = LIMIT_S) -> float:
        return max(0.0, min(limit_s, self.end - time.monotonic()))

    def begin(self, name: str, words: list[str], folder: Path, **more: Any) -> Run:
        self.runs.append(start(name, words, folder, self.tell, on_cpu=self.on_cpu, **more))
        return self.runs[-1]

    def keep(self, run: Run, steps: int) -> None:
        """The log, whole: of a run that failed it is all there is, and its end is said at once."""
        shutil.copyfile(run.folder / f"{run.name}.log", self.out / f"{run.name}.log")
        if len(run.steps) < steps:
            sys.stdout.write(f"{run.name}: {len(run.steps)} of {steps} steps\n{causes(run.log)}\n{run.log[-3000:]}\n")

    def ours(self, case: Case, which: str = "", **more: Any) -> Run:
        folder = self.folder / case.name
        words = prepare.ours(case, folder, total_gib=self.memory.total_gib, on_cpu=self.on_cpu)
        return self.begin(f"{case.name}{which}", words, folder, torch_gib=case.torch_gib, **more)

    def plain(self, case: Case, which: str = "-plain") -> Run:
        folder = self.folder / case.name
        words = prepare.plain(case, folder, total_gib=self.memory.total_gib, on_cpu=self.on_cpu)
        return self.begin(f"{case.name}{which}", words, folder, torch_gib=case.torch_gib)


def prove(bench: Bench, cases: Mapping[str, Case], *, with_toy: bool, together: bool) -> dict[str, Found]:
    """Plain verl on the small case, our run of it, and both again up to their first steps; then the large case and the toy
    beside each other. The first start on a node fills its caches: it is nobody's measure alone.

    `together` starts the large case when ours of the small one has made its first step; its rollouts wait for all else.
    The steps of ours are not quicker for that.
    """
    small, large = cases.get("0.5b"), cases.get("7b-lora")
    found: dict[str, Found] = {}
    early, go = None, bench.folder / "go"
    go.unlink(missing_ok=True)
    if small:
        first = bench.plain(small)
        first.follow(prepare.PLAIN_STEPS, bench.left(SMALL_S), leave_s=0.0)
        bench.keep(first, prepare.PLAIN_STEPS)
        ours = bench.ours(small)
        if ours.until(lambda: bool(ours.steps), bench.left(SMALL_S)) and large and together:
            early = bench.ours(large, go=go)
        ours.follow(len(small.loops), bench.left(SMALL_S))
        bench.keep(ours, len(small.loops))
        found[small.name] = judged(bench, small, ours)
        if not ours.steps:  # what is wrong here is wrong in all that follows
            return found
        again = [
            begun(bench, run)
            for run in (lambda: bench.plain(small, "-plain-again"), lambda: bench.ours(small, "-again"))
        ]
        found["plain"] = against_plain(bench, small, [ours, again[1]], [first, again[0]])
    go.touch()
    if large:
        early = early or bench.ours(large, go=go)
    found |= rest(bench, large, early, with_toy=with_toy)
    return found


def begun(bench: Bench, start: Callable[[], Run]) -> Run:
    """A run up to its first step."""
    run = start()
    run.until(lambda: run.begun_s is not None, bench.left(SMALL_S))
    run.end()
    return run


def rest(bench: Bench, large: Case | None, early: Run | None, *, with_toy: bool) -> dict[str, Found]:
    """The large case goes on; the toy, which takes next to nothing of the device, runs beside it."""
    found: dict[str, Found] = {}
    learns = begin_toy(bench) if with_toy else None
    if large and early:
        early.follow(len(large.loops), bench.left())
        bench.keep(early, len(large.loops))
        found[large.name] = judged(bench, large, early)
    if learns:
        learns.follow(toy.STEPS, bench.left())
        bench.keep(learns, toy.STEPS)
        found["toy"] = learnt(bench, learns)
    return found


def make_toy_model(folder: Path) -> None:
    from cpu_stack import tiny

    place = folder / "toy" / "toy_model"
    if not place.exists():
        place.mkdir(parents=True)
        tiny.make(str(place))


def begin_toy(bench: Bench, name: str = "toy", **how: Any) -> Run:
    from cpu_stack.run import BROKEN

    folder = bench.folder / "toy"
    command = toy.prepare(folder, on_cpu=bench.on_cpu, name=name, **how)
    return bench.begin(name, command, folder, more={BROKEN: str(folder / "broken")})


def judged(bench: Bench, case: Case, run: Run) -> Found:
    """One of our runs by itself."""
    steps = run.steps
    seen = compare.figures(steps, sequences=case.sequences)
    moved = compare.moved_in_all(run.moved(), len(case.loops))
    bench.tell({"case": case.name, **seen, "moved_share": moved, "peaks_gib": dict(bench.memory.peaks)})
    found: Found = {"steps": len(steps), "moved": moved, "pearson": seen["pearson"]}
    peak = bench.memory.peaks.get(case.name)
    found["memory"] = None if peak is None else peak - case.gib
    if OWN in case.loops:
        loops = compare.by_loop(steps, case.loops)
        found["overhead"] = compare.loop_overhead(loops[OURS], loops[OWN])
        each = {name: compare.figures(loops[name], sequences=case.sequences, warm=0) for name in loops}
        more = {"step_overhead": compare.overhead(loops[OURS], loops[OWN])}
        bench.tell({"case": case.name, "overhead": found["overhead"], **more, "loops": each})
    else:
        found["tokens_per_s"] = seen["tokens_per_s"]
    return found


def against_plain(bench: Bench, case: Case, ours: Sequence[Run], plain: Sequence[Run]) -> Found:
    """Start-up and steps as shares of plain verl's; of each side, the quickest start."""
    mine, theirs = compare.by_loop(ours[0].steps, case.loops)[OURS], plain[0].steps[1:]
    starts = [[run.begun_s for run in runs if run.begun_s is not None] for runs in (ours, plain)]
    share = min(starts[0]) / min(starts[1]) - 1 if all(starts) else None
    found: Found = {"start_up": share, "step_time": compare.overhead(mine, theirs)}
    seconds = {"ours_begun_s": starts[0], "plain_begun_s": starts[1], "ours_first_step_done_s": ours[0].first_s}
    steps = {"ours_steps_s": [one[STEP] for one in mine], "plain_steps_s": [one[STEP] for one in theirs]}
    bench.tell({"case": "plain", **found, **seconds, **steps, "plain_first_step_done_s": plain[0].first_s})
    return found


def learnt(bench: Bench, run: Run) -> Found:
    found = toy.rewards(run.folder / "toy")
    rise = None
    if len(found) >= toy.STEPS:
        rise = sum(found[-toy.LAST :]) / toy.LAST - sum(found[: toy.FIRST]) / toy.FIRST
    bench.tell({"case": "toy", "rewards": found, "rise": rise})
    return {"rise": None if rise is None else rise - toy.LEAST_RISE, "steps": len(run.steps)}
