"""The proof on a GPU, as far as it can be tried without one: its configurations, its command lines, its arithmetic."""

import json
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.training_gpu import cpu, long_tail, prepare, toy, toy_modes
from benchmarks.training_gpu.__main__ import main
from benchmarks.training_gpu.cases import CASES, OURS, OWN, PAIRS, SEPARATES, TWO_GPUS, Case
from benchmarks.training_gpu.compare import STEP, by_loop, figures, loop_overhead, moved_in_all, overhead, verdicts
from benchmarks.training_gpu.memory import GIB, Memory, device
from benchmarks.training_gpu.prepare import rows
from benchmarks.training_gpu.proofs import Bench, against_plain, prove
from benchmarks.training_gpu.runs import read_lines, start
from skyrl_train.config.constraints import violations
from skyrl_train.config.load import parse
from skyrl_train.launch import directory
from skyrl_train.tasks.converted import fault_of_row


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_both_runs_have_the_same_settings(case: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--folder", str(tmp_path), "--case", case.name, "--dry-run"]) == 0
    ours, plain = capsys.readouterr().out.splitlines()
    assert ours.endswith(f"-m skyrl_train train {tmp_path}/{case.name}/ours --no-gate")
    for word in (
        f"data.max_response_length={case.response}",
        f"actor_rollout_ref.rollout.n={case.n}",
        f"actor_rollout_ref.model.lora_rank={case.lora_rank}",
        "actor_rollout_ref.actor.strategy='fsdp2'",
        "actor_rollout_ref.rollout.ignore_eos=True",
        "actor_rollout_ref.rollout.enforce_eager=false",
        "trainer.total_training_steps=3",
        "reward.num_workers=1",
    ):
        assert f" {word} " in f"{plain} "
    assert "skyrl_train" not in plain
    assert "agent_loop" not in plain


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_row_is_one_that_our_data_set_reads(case: Case) -> None:
    made = rows(case)
    assert [fault_of_row(row) for row in made] == [None] * case.batch * len(case.loops)
    steps = [made[first : first + case.batch] for first in range(0, len(made), case.batch)]
    assert [{row["agent_name"] for row in step} for step in steps] == [{loop} for loop in case.loops]


def test_the_limit_of_a_case_is_what_its_parts_come_to() -> None:
    for case in (*CASES, *TWO_GPUS, *SEPARATES):
        text = case.config(model="m", tasks="t", folder="f", loop="", total_gib=100.0, more=())
        assert parse(text).rollout.gpu_memory_utilization == pytest.approx(case.vllm_gib / 100, abs=1e-4)
        assert case.torch_gib < case.gib
        assert [one for one in violations(parse(text)) if one.fatal] == []


def test_a_case_that_two_cores_can_run_is_the_same_one_in_small() -> None:
    for case in CASES:
        assert cpu.small(case).loops == case.loops
        assert cpu.small(case).lora_rank == case.lora_rank


def step(seconds: float, **more: float) -> dict[str, float]:
    return {STEP: seconds, "timing_s/gen": seconds / 2, "response_length/mean": 1000, **more}


def test_figures_leave_the_first_step_out() -> None:
    pearson = "training/rollout_actor_probs_pearson_corr"
    assert figures([step(50, **{pearson: 0.999}), step(10), step(12)], sequences=16) == {
        "steps": 3,
        "step_s": 11.0,
        "generation_s": 5.5,
        "tokens_per_s": pytest.approx((16000 / 5 + 16000 / 6) / 2),
        "response_tokens": 1000,
        "pearson": 0.999,
        "torch_peak_gib": 0.0,
    }
    assert figures([], sequences=16)["step_s"] is None


def test_loops_are_compared_without_the_steps_that_warm_up() -> None:
    times = [90.0, 80.0, 10.3, 10.0, 10.1, 10.2, 10.1, 9.9]
    loops = by_loop([step(one) for one in times], PAIRS)
    assert [one[STEP] for one in loops[OURS]] == [10.3, 10.2, 10.1]
    assert [one[STEP] for one in loops[OWN]] == [10.0, 10.1, 9.9]
    assert overhead(loops[OURS], loops[OWN]) == pytest.approx(0.02)
    assert overhead(loops[OURS], []) is None
    assert loop_overhead(loops[OURS], loops[OWN]) == pytest.approx(0.1 / 10.0)  # half of each step is generation
    assert loop_overhead([], loops[OWN]) is None


def test_what_was_not_measured_does_not_hold() -> None:
    good = {"steps": 3, "overhead": 0.02, "start_up": 0.0, "pearson": 0.99, "tokens_per_s": 1000.0, "memory": -0.1}
    assert set(verdicts(good).values()) == {True}
    assert set(verdicts(dict.fromkeys(good)).values()) == {False}
    bad = {"steps": 2, "overhead": 0.021, "start_up": 0.01, "pearson": 0.98, "tokens_per_s": 999.0, "memory": 0.1}
    assert set(verdicts({**bad, "moved": 0.0, "rise": 0.0, "step_time": 0.021}).values()) == {False}


def test_weights_have_moved_where_each_step_moved_some() -> None:
    lines = [{"moved": 4, "tensors": 4}, {"moved": 1, "tensors": 4}]
    assert moved_in_all(lines, 2) == 0.25
    assert moved_in_all(lines, 3) == 0.0
    assert moved_in_all([{"moved": 0, "tensors": 0}], 1) == 0.0


def test_a_line_that_is_being_written_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    assert read_lines(path) == []
    path.write_text(json.dumps({"a": 1}) + '\n{"b"')
    assert read_lines(path) == [{"a": 1}]


STANDIN = """
import json, os, sys, time
print("Training Progress:   0%", file=sys.stderr, flush=True)
with open(os.environ["VERL_FILE_LOGGER_PATH"], "a") as metrics, open(os.environ["SKYRL_BENCH_MOVED"], "a") as moved:
    for number in range(2):
        metrics.write(json.dumps({"step": number, "data": {"timing_s/step": 1.5, "timing_s/gen": 0.5}}) + "\\n")
        moved.write(json.dumps({"tensors": 2, "moved": 2}) + "\\n")
if len(sys.argv) > 1:
    time.sleep(600)
sys.exit(3)
"""


@pytest.mark.parametrize(("more", "status"), [([], 3), (["hangs"], -15)])
def test_a_run_is_followed_to_its_steps_and_ended(tmp_path: Path, more: list[str], status: int) -> None:
    told: list[dict[str, object]] = []
    run = start("one", [sys.executable, "-c", STANDIN, *more], tmp_path, told.append)
    run.follow(2, 60.0, leave_s=0.0 if more else 60.0)
    assert run.exit == status
    assert [one[STEP] for one in run.steps] == [1.5, 1.5]
    assert run.begun_s is not None
    assert run.first_s is not None
    assert moved_in_all(run.moved(), 2) == 1.0
    assert [line.get("step") for line in told if "step" in line] == [1, 2]
    assert told[-1]["exit"] == status


def test_a_run_ends_no_other_of_its_name_and_memory_knows_it_by_its_name(tmp_path: Path) -> None:
    runs = []
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
        runs.append(start("one", [sys.executable, "-c", STANDIN, "hangs"], tmp_path / place, lambda _line: None))
    assert all(run.until(lambda run=run: len(run.steps) == 2, 60.0) for run in runs)  # type: ignore[misc]
    runs[0].end()
    assert runs[1].look()
    assert Memory(tmp_path / "memory.jsonl")._name(runs[1].process.pid) == "one"
    runs[1].end()
    assert [run.exit for run in runs] == [-15, -15]


def measured(run: str) -> list[dict[str, float]]:
    return [line for line in DATA if line.get("run") == run and "step" in line]


DATA = read_lines(Path(__file__).parents[2] / "benchmarks/training_gpu/h200-2026-11-21.jsonl")


def test_what_the_page_says_was_measured() -> None:
    loops = by_loop(measured("0.5b"), PAIRS)
    assert loop_overhead(loops[OURS], loops[OWN]) == pytest.approx(0.0078, abs=1e-4)
    assert overhead(loops[OURS], loops[OWN]) == pytest.approx(0.0183, abs=1e-4)
    assert overhead(loops[OURS], measured("0.5b-plain")[1:]) == pytest.approx(-0.2339, abs=1e-4)
    starts = {line["run"]: line["begun_s"] for line in DATA if "begun_s" in line and "what" not in line}
    assert {name: round(seconds, 1) for name, seconds in starts.items()} == {
        "0.5b-plain": 87.8,
        "0.5b": 60.7,
        "0.5b-plain-again": 58.7,
        "0.5b-again": 57.3,
    }
    small = figures(measured("0.5b"), sequences=8)
    large = figures(measured("7b-lora"), sequences=16)
    assert (small["pearson"], large["pearson"]) == (pytest.approx(0.9999, abs=1e-4), pytest.approx(0.9993, abs=1e-4))
    assert large["tokens_per_s"] == pytest.approx(1929, abs=1)
    peaks = next(line["peaks_gib"] for line in DATA if line.get("case") == "7b-lora")
    assert {case.name: peaks[case.name] <= case.gib for case in CASES} == {"0.5b": True, "7b-lora": True}
    for name, steps in (("0.5b", 14), ("0.5b-plain", 3), ("7b-lora", 3), ("toy", 14)):
        assert (
            moved_in_all(next(line["moved"] for line in DATA if line.get("run") == name and "exit" in line), steps) == 1
        )
    rewards = next(line["rewards"] for line in DATA if line.get("case") == "toy")[: toy.STEPS]
    assert sum(rewards[-toy.LAST :]) / toy.LAST - sum(rewards[: toy.FIRST]) / toy.FIRST > toy.LEAST_RISE


def test_the_toy_is_the_tests_own_task_with_more_rollouts(tmp_path: Path) -> None:
    words = toy.prepare(tmp_path, on_cpu=False)
    config = parse((tmp_path / "toy" / directory.CONFIG).read_text())
    assert words[-3:] == ["train", str(tmp_path / "toy"), "--no-gate"]
    assert (config.rollout.n, config.data.train_batch_size, config.trainer.steps) == (toy.N, toy.BATCH, toy.STEPS)
    assert config.rollout.gpu_memory_utilization == 0.12
    assert [word for word in config.trainer.verl_overrides if "cpu" in word] == []


def standin_bench(folder: Path, monkeypatch: pytest.MonkeyPatch, steps: dict[str, int]) -> tuple[Bench, list[str]]:
    """A bench whose runs are stand-ins that say so many steps; and the order in which they begin."""
    begun: list[str] = []

    def words(name: str) -> list[str]:
        begun.append(name)
        script = STANDIN.replace("range(2)", f"range({steps.get(name, 0)})")
        return [sys.executable, "-c", script, *(["hangs"] if "plain" in name else [])]

    def ours(case: Case, folder: Path, **_: object) -> list[str]:
        folder.mkdir(parents=True, exist_ok=True)
        return words(case.name)

    def plain(case: Case, folder: Path, **_: object) -> list[str]:
        folder.mkdir(parents=True, exist_ok=True)
        return words("plain")

    monkeypatch.setattr(prepare, "ours", ours)
    monkeypatch.setattr(prepare, "plain", plain)
    memory = Memory(folder / "memory.jsonl")
    return Bench(folder, folder, lambda _line: None, memory, time.monotonic() + 60.0, on_cpu=True), begun


@pytest.mark.parametrize("together", [False, True])
def test_plain_verl_runs_before_ours_and_both_again_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, together: bool
) -> None:
    cases = {case.name: case for case in CASES}
    bench, begun = standin_bench(tmp_path, monkeypatch, {"0.5b": 14, "plain": 3, "7b-lora": 3})
    found = prove(bench, cases, with_toy=False, together=together)
    large = ["7b-lora"]
    assert begun == ["plain", "0.5b", *(large if together else []), "plain", "0.5b", *([] if together else large)]
    assert {name: one["steps"] for name, one in found.items() if "steps" in one} == {"0.5b": 14, "7b-lora": 3}
    assert found["plain"]["step_time"] == 0.0
    assert found["plain"]["start_up"] is not None
    assert (tmp_path / "0.5b-plain.log").exists()
    assert (tmp_path / "go").exists()


def test_an_interrupted_bench_leaves_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench, _ = standin_bench(tmp_path, monkeypatch, {})
    with pytest.raises(KeyboardInterrupt), bench:  # noqa: PT012 -- what is interrupted has begun something
        bench.plain(CASES[0])
        raise KeyboardInterrupt
    assert [run.exit for run in bench.runs] == [-15]


def test_of_each_side_the_better_start_is_the_one_that_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench, _ = standin_bench(tmp_path, monkeypatch, {})

    def run(begun_s: float | None, *seconds: float) -> Any:
        return SimpleNamespace(begun_s=begun_s, first_s=1.0, steps=[step(one) for one in seconds])

    ours = [run(72.0, *[9.0] * len(PAIRS)), run(66.0)]
    found = against_plain(bench, CASES[0], ours, [run(90.0, 50.0, 10.0, 10.0), run(60.0)])
    assert found == {"start_up": pytest.approx(0.1), "step_time": pytest.approx(-0.1)}
    assert against_plain(bench, CASES[0], ours, [run(None)]) == {"start_up": None, "step_time": None}


def test_nothing_is_tried_after_a_run_of_ours_without_a_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bench, begun = standin_bench(tmp_path, monkeypatch, {"plain": 3})
    found = prove(bench, {case.name: case for case in CASES}, with_toy=False, together=False)
    assert begun == ["plain", "0.5b"]
    assert {name: verdicts(one)["steps"] for name, one in found.items()} == {"0.5b": False}
    assert "0.5b: 0 of 14 steps" in capsys.readouterr().out


class Nvml:
    """One device, and the processes on it."""

    NVMLError = RuntimeError

    def __init__(self, processes: dict[int, int | None]) -> None:
        self.processes = processes

    def nvmlDeviceGetHandleByIndex(self, index: int) -> str:  # noqa: N802 -- NVML's names
        return f"index {index}"

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> str:  # noqa: N802
        return uuid

    def nvmlDeviceGetMemoryInfo(self, _device: str) -> SimpleNamespace:  # noqa: N802
        return SimpleNamespace(used=sum(used or 0 for used in self.processes.values()))

    def nvmlDeviceGetComputeRunningProcesses(self, _device: str) -> list[SimpleNamespace]:  # noqa: N802
        return [SimpleNamespace(pid=pid, usedGpuMemory=used) for pid, used in self.processes.items()]


@pytest.mark.parametrize(
    ("visible", "handle"), [("", "index 0"), ("3,1", "index 3"), (" GPU-a,GPU-b", "GPU-a"), ("MIG-c", "MIG-c")]
)
def test_the_device_that_is_watched_is_the_first_that_a_run_may_use(visible: str, handle: str) -> None:
    assert device(Nvml({}), visible) == handle


def test_each_run_has_its_own_largest_and_what_no_driver_tells_is_left_out(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "memory.jsonl")
    memory._names = {1: "one", 2: "one", 3: "two", 4: "two"}
    memory._device = "it"
    for processes in ({1: GIB, 2: 2 * GIB, 3: None, 4: None}, {1: GIB, 3: None}):
        memory._nvml = Nvml(processes)
        seen = memory._seen()
    assert {name: seen[name] for name in ("one", "all")} == {"one": 1.0, "all": 1.0}
    assert memory.peaks == {"one": 3.0, "all": 3.0}


@pytest.mark.parametrize(
    ("sync", "other", "status"),
    [
        ([0.8, 0.9, 0.85], [0.8, 0.92, 0.9], 0),
        ([0.8, 0.82, 0.81], [0.6, 0.62, 0.61], 1),
        ([0.8, 0.9], [0.85], 1),
    ],
)
def test_modes_differ_if_their_means_are_further_apart_than_runs(
    sync: list[float], other: list[float], status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert toy_modes.verdict({"sync": sync, "colocate_async": sync, "separate_async": other}) == status
    assert ("too few runs" in capsys.readouterr().out) == (len(other) < 2)


def test_a_run_whose_rollouts_are_mostly_masked_has_no_reward_to_compare(tmp_path: Path) -> None:
    counts = tmp_path / "rollout_counts.jsonl"
    counts.write_text('{"scored": 32, "reward": 8.0}\n{"scored": 16, "reward": 12.0}\n')
    assert (toy.rewards(tmp_path), toy.most_scored(tmp_path)) == ([0.25, 0.75], True)
    counts.write_text('{"scored": 32, "reward": 8.0}\n{"scored": 15, "reward": 15.0}\n{"reward": 0.0}\n')
    assert (toy.rewards(tmp_path), toy.most_scored(tmp_path)) == ([0.25, 1.0, 0.0], False)


def test_the_toy_of_a_mode_has_places_and_a_seed_of_its_own(tmp_path: Path) -> None:
    words = toy.prepare(tmp_path, on_cpu=False, name="toy-colocate_async-3", mode="colocate_async", seed=3)
    config = parse((tmp_path / "toy-colocate_async-3" / directory.CONFIG).read_text())
    assert words[-2] == str(tmp_path / "toy-colocate_async-3")
    assert (config.trainer.mode, config.trainer.seed) == ("colocate_async", 3)
    assert "toy-colocate_async-3_checkpoints" in config.trainer.checkpoint_dir


def test_the_toy_of_separate_gpus_has_two(tmp_path: Path) -> None:
    toy.prepare(tmp_path, on_cpu=True, mode="separate_async")
    config = parse((tmp_path / "toy" / directory.CONFIG).read_text())
    assert (config.devices, config.trainer_devices, config.trainer.rollout_gpus) == (2, 1, 1)
    assert "+ray_kwargs.ray_init.num_gpus=2" in config.trainer.verl_overrides


def test_all_modes_are_compared_where_the_gpus_allow_it() -> None:
    assert long_tail.modes(1) == ("sync", "colocate_async")
    assert long_tail.modes(2) == ("sync", "colocate_async", "separate_async")
