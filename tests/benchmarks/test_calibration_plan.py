"""The plan of runs on several GPUs: every case is one that the memory model describes."""

import os
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from benchmarks.calibration.__main__ import main
from benchmarks.calibration.evaluate import micro_batches
from benchmarks.calibration.kinds import KINDS, Row, table
from benchmarks.calibration.several import Devices, Several, command, merged, read_plan, run, share_of, visible, within
from benchmarks.calibration.shapes import SHAPES
from skyrl_train.memory import GIB, budget, device_named, job_from_verl, shape_from_config

PLAN_ID = "2-1.5b-packed-sequence-parallel"
PLAN = Path(__file__).parents[2] / "benchmarks/calibration/several-gpus.toml"


@pytest.mark.parametrize("several", read_plan(PLAN), ids=lambda each: each.case.id)
def test_every_case_has_a_prediction_and_fits_an_h100(several: Several) -> None:
    case = several.case
    rollout = {"actor_rollout_ref.rollout.tensor_model_parallel_size": 1}
    job = job_from_verl({**case.job, **rollout})
    assert job.n_gpus == several.gpus
    found = budget(shape_from_config(SHAPES[case.shape]), job, device_named("H100"))
    assert found.trainer_peak.allocated < 74 * GIB


def line_of(several: Several) -> dict[str, object]:
    """The part of a measured line that says which kind of run it is."""
    case = several.case
    return {
        "id": case.id,
        "gpus": several.gpus,
        "shape": case.shape,
        "model": SHAPES[case.shape],
        "job": case.job,
        "fill": case.fill,
        "reply_fill": case.reply_fill,
        "lengths": [sum(pair) for pair in case.lengths()],
    }


def test_the_plan_has_every_kind_at_full_and_at_mixed_lengths() -> None:
    lines = [line_of(each) for each in read_plan(PLAN)]
    missing = [
        (name, is_mixed)
        for name, is_of in KINDS.items()
        for is_mixed in (False, True)
        if not any(is_of(line) and Row(line, 0.0).is_mixed is is_mixed for line in lines)
    ]
    assert missing == []


def test_the_table_has_median_and_worst_of_each_kind() -> None:
    lines = {each.case.id: line_of(each) for each in read_plan(PLAN)}
    rows = [Row(lines["2-moe"], 0.02), Row(lines["2-1.5b-fsdp2"], -0.04), Row(lines["2-moe-mixed"], 0.07)]
    assert list(table(rows)) == [
        "                                         full length   mixed lengths, expected",
        "kind                            runs  median   worst      runs  median   worst",
        "all                                2    3.0%    4.0%         1    7.0%    7.0%",
        "FSDP over 2 GPUs                   2    3.0%    4.0%         1    7.0%    7.0%",
        "FSDP over 4 GPUs                        not measured              not measured",
        "sequence parallel 2, packed             not measured              not measured",
        "LoRA                                    not measured              not measured",
        "critic                                  not measured              not measured",
        "7B, all weights                         not measured              not measured",
        "mixture of experts                 1    2.0%    2.0%         1    7.0%    7.0%",
        "dynamic batches                         not measured              not measured",
    ]


def test_the_fullest_micro_batch_is_one_of_a_rank() -> None:
    job = job_from_verl(
        {
            "trainer.n_gpus_per_node": 2,
            "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu": 2,
            "actor_rollout_ref.rollout.tensor_model_parallel_size": 1,
        }
    )
    assert [list(group) for group in micro_batches([1, 2, 3, 4, 5, 6, 7, 8], job)] == [[1, 3], [5, 7], [2, 4], [6, 8]]


def test_cases_run_at_the_same_time_where_the_gpus_are() -> None:
    cases = [Several(gpus, read_plan(PLAN)[0].case) for gpus in (2, 2, 4, 8)]
    both = threading.Barrier(2, timeout=30)
    seen = []

    def execute(each: Several, environ: Mapping[str, str]) -> int:
        seen.append((each.gpus, environ["CUDA_VISIBLE_DEVICES"]))
        if each.gpus == 2:
            both.wait()  # each of the two waits for the other
        return 0

    assert run(cases, Devices(["4", "5", "6", "7"]), execute) == 0
    assert sorted(seen[:2]) == [(2, "4,5"), (2, "6,7")]
    assert [(gpus, sorted(names.split(","))) for gpus, names in seen[2:]] == [(4, ["4", "5", "6", "7"])]


def test_a_case_that_fails_gives_its_gpus_back() -> None:
    cases = [Several(2, read_plan(PLAN)[0].case)] * 3
    ends = iter([1, None, 0])
    assert run(cases, Devices(["0", "1"]), lambda _each, _environ: next(ends)) == 2


def test_the_gpus_are_those_that_are_visible() -> None:
    assert visible({"CUDA_VISIBLE_DEVICES": "2, 3"}, 8) == ["2", "3"]
    assert visible({}, 2) == ["0", "1"]


def test_each_rank_has_its_share_of_the_samples() -> None:
    case = next(each.case for each in read_plan(PLAN) if each.case.id == "2-1.5b-packed-mixed")
    shares = [share_of(case, rank, 2) for rank in range(2)]
    assert len(set(case.lengths())) > 100
    assert sorted(pair for share in shares for pair in share.lengths()) == sorted(case.lengths())


def test_a_line_has_the_largest_peak_of_all_ranks() -> None:
    case = read_plan(PLAN)[0].case
    lines = [
        {"outcome": outcome, "phases": {"update_2": {"peak": {"allocated_gib": size}}}}
        for outcome, size in (("ok", 2.0), ("oom", 1.0))
    ]
    found = merged(lines, case, 2)
    assert (found["gpus"], found["outcome"]) == (2, "oom")
    assert found["phases"]["update_2"]["peak"]["allocated_gib"] == 2.0


RUNNER = """
import signal, subprocess, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
rank = subprocess.Popen(["sleep", "600"], start_new_session=True)
try:
    open(sys.argv[1], "w").write(str(rank.pid))
    rank.wait()
finally:
    rank.kill()
    rank.wait()
"""


def test_a_case_that_takes_too_long_leaves_no_rank(tmp_path: Path) -> None:
    """As torchrun does: the ranks have sessions of their own, and end with its SIGTERM."""
    told = tmp_path / "rank"
    assert within(5, [sys.executable, "-c", RUNNER, str(told)], {}) is None
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text()), 0)


def test_a_case_is_one_torchrun() -> None:
    words = command(read_plan(PLAN)[0], PLAN, Path("o.jsonl"), Path("m"))
    assert "--nproc_per_node=2" in words
    assert words[-5:] == ["benchmarks.calibration.several", str(PLAN), PLAN_ID, "o.jsonl", "m"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected one"),
        ('[[case]]\nid = "a"\nshape = "nope"\ngpus = 2', "unknown shape"),
        ('[[case]]\nid = "a"\nshape = "tiny"\ngpus = 99', "expected 1 to 8"),
        ('[[case]]\nid = "a"\nshape = "tiny"\ngpus = 2\nwith = ["x"]', "unknown kind"),
        ('[[case]]\nid = "a"\nshape = "tiny"\ngpus = 2\nmikro = 2', "unknown field mikro"),
    ],
)
def test_a_bad_plan_names_what_is_wrong(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "plan.toml"
    file.write_text(text)
    with pytest.raises(ValueError, match=said):
        read_plan(file)


def test_list_prints_the_ids(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--plan", str(PLAN), "--list", "--only", "4-7b*"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "4-7b",
        "4-7b-mixed",
        "4-7b-lora32-mixed",
        "4-7b-packed-sequence-parallel-dynamic16384",
        "4-7b-packed-sequence-parallel-dynamic16384-mixed",
        "4-7b-fsdp2-offload",
    ]
