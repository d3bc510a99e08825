"""The plan of runs on several GPUs: every case is one that the memory model describes."""

from pathlib import Path

import pytest

from benchmarks.calibration.__main__ import main
from benchmarks.calibration.several import command, merged, read_plan, share_of
from benchmarks.calibration.shapes import SHAPES
from skyrl_train.memory import budget, device_named, job_from_verl, shape_from_config

PLAN = Path(__file__).parents[2] / "benchmarks/calibration/several-gpus.toml"


@pytest.mark.parametrize("several", read_plan(PLAN), ids=lambda each: each.case.id)
def test_every_case_has_a_prediction_and_fits_an_h200(several: object) -> None:
    case = several.case  # type: ignore[attr-defined]
    rollout = {"actor_rollout_ref.rollout.tensor_model_parallel_size": 1}
    job = job_from_verl({**case.job, **rollout})
    assert job.n_gpus == several.gpus  # type: ignore[attr-defined]
    assert (
        budget(shape_from_config(SHAPES[case.shape]), job, device_named("H200")).peak.total < device_named("H200").total
    )


def test_each_rank_has_its_share_of_the_samples() -> None:
    case = next(each.case for each in read_plan(PLAN) if each.case.id == "2-1.5b-packed-mixed")
    shares = [share_of(case, rank, 2) for rank in range(2)]
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


def test_a_case_is_one_torchrun() -> None:
    words = command(read_plan(PLAN)[0], PLAN, Path("o.jsonl"), Path("m"))
    assert "--nproc_per_node=2" in words
    assert words[-5:] == ["benchmarks.calibration.several", str(PLAN), "2-tiny", "o.jsonl", "m"]


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
    assert main(["--plan", str(PLAN), "--list", "--only", "4-*"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "4-7b",
        "4-7b-fsdp2-mixed",
        "4-7b-packed-sequence-parallel-dynamic16384",
    ]
