"""Logs of several Slurm jobs in one directory are judged apart; those of one job together."""

import json
from pathlib import Path

import jsonschema
import pytest

from skyrl_doctor.cli.app import dispatch
from skyrl_doctor.html.job import read_job
from skyrl_doctor.logs.diagnose import diagnose

FULL = "OSError: [Errno 28] No space left on device: '/ckpt/global_step_2/model.pt'\n"
REFUSED = "No available worker slots\n"
FINE = "step:1 - actor/loss:0.7 - timing_s/step:10.0\n"


def _write(directory: Path, **texts: str) -> list[tuple[str, list[str]]]:
    """The jobs that are found, with the names of their files."""
    for name, text in texts.items():
        (directory / name.replace("__", ".").replace("_J", "-8123")).write_text(text, encoding="utf-8")
    found = diagnose([str(directory)])
    return [(job.slurm_id, [Path(file).name for file in job.read]) for job in found.jobs]


def test_each_job_has_its_own_cause_and_the_newest_comes_first(tmp_path: Path) -> None:
    assert _write(tmp_path, slurm_J0__out=FINE + FULL, slurm_J1__out=FINE + REFUSED) == [
        ("81231", ["slurm-81231.out"]),
        ("81230", ["slurm-81230.out"]),
    ]
    roots = [job.diagnosis.root for job in diagnose([str(tmp_path)]).jobs]
    assert [root and root.failure.id for root in roots] == ["RUN005", "CKP003"]


def test_the_files_of_one_job_stay_together(tmp_path: Path) -> None:
    found = _write(tmp_path, slurm_J0__out=FINE, slurm_J0__err=FULL, ray__log=FINE)
    assert found == [("81230", ["ray.log", "slurm-81230.err", "slurm-81230.out"])]


def test_the_two_jobs_of_a_launch_are_one_run(tmp_path: Path) -> None:
    named = "SLURM_JOB_ID=81239\n"
    found = _write(tmp_path, runtime_81230__out=REFUSED, training_81231__err=FULL, gate__log=named)
    assert found == [("81231", ["gate.log", "runtime_81230.out", "training_81231.err"])]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (
            {"a.err": FULL, "a.out": "SLURM_JOB_ID=501\n", "b.err": FINE, "b.out": "SLURM_JOB_ID=502\n"},
            [("502", ["b.err", "b.out"]), ("501", ["a.err", "a.out"])],
        ),
        (
            {"ray_client_server_23000.out": FINE, "run_ctx_4096.out": FINE, "slurm-81230.out": FULL},
            [("81230", ["ray_client_server_23000.out", "run_ctx_4096.out", "slurm-81230.out"])],
        ),
        (
            {"multi_gpu_81230.log": FULL, "multi_gpu_81231.log": FINE},
            [("81231", ["multi_gpu_81231.log"]), ("81230", ["multi_gpu_81230.log"])],
        ),
        (
            {"training_81230.out": FULL, "training_81231.out": FINE},
            [("81231", ["training_81231.out"]), ("81230", ["training_81230.out"])],
        ),
        (
            {"slurm-81230_1.out": "SLURM_JOB_ID=81232\n", "train.log": "SLURM_JOB_ID=81232\n" + FULL},
            [("81230_1", ["slurm-81230_1.out", "train.log"])],
        ),
        (
            {f"{at}/{role}_8123{at}.out": FINE for at in (1, 2) for role in ("runtime", "training")},
            [(f"8123{at}", [f"runtime_8123{at}.out", f"training_8123{at}.out"]) for at in (2, 1)],
        ),
    ],
    ids=["streams", "other numbers", "ordinary names", "jobs named training", "task of an array", "two launches"],
)
def test_the_logs_of_jobs_are_told_apart(tmp_path: Path, texts: dict[str, str], expected: object) -> None:
    for name, text in texts.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert _write(tmp_path) == expected


@pytest.mark.parametrize(
    "texts",
    [
        {"swe-agent-81230.out": FULL, "swe-agent-81231.out": FINE},
        {"train-4321.out": FULL, "train-4322.out": FINE},
        {"train-81230.out": FINE, "train-81231.out": "srun: job 81230 queued and waiting for resources\n" + FULL},
        {"slurm_20261122.log": FULL, "slurm_20261123.log": FINE},
    ],
    ids=["words before ids", "short ids", "other ids in lines", "dates"],
)
def test_a_run_after_a_failed_one_does_not_hide_it(tmp_path: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        (tmp_path / name).write_text(text + (FINE + "Training finished\n") * (text == FINE), encoding="utf-8")
    assert sorted(job.is_failed for job in diagnose([str(tmp_path)]).jobs) == [False, True]


def test_a_page_about_logs_without_an_id_says_so(tmp_path: Path) -> None:
    _write(tmp_path, train_20261122__log=FINE + FULL, train_20261123__log=FINE)
    assert read_job(str(tmp_path))[1].notes[0] == (
        f"This page is about logs that name no Slurm job, the newest in this directory: {tmp_path}/train_20261123.log."
    )


def test_a_job_that_continues_another_is_one_run(tmp_path: Path) -> None:
    continued = "Restarting from the last checkpoint of job 81230\n"
    assert _write(tmp_path, slurm_J0__out=FINE, slurm_J1__out=continued + FULL, slurm_J9__out=FINE) == [
        ("81239", ["slurm-81239.out"]),
        ("81231", ["slurm-81230.out", "slurm-81231.out"]),
    ]


def test_the_report_has_a_block_for_each_job_and_the_worst_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _write(tmp_path, slurm_J0__out=FULL, slurm_J1__out=FINE)
    assert dispatch(["diagnose", str(tmp_path)]) == 1
    shown = capsys.readouterr().out
    newest, oldest = shown.index("== Slurm job 81231 =="), shown.index("== Slurm job 81230 ==")
    assert newest < shown.index("No known failure and no error found in 1 file.") < oldest < shown.index("CKP003")


def test_the_data_name_the_job_and_hold_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _write(tmp_path, slurm_J0__out=FULL, slurm_J1__out=REFUSED)
    assert dispatch(["diagnose", str(tmp_path), "--format", "json"]) == 1
    data = json.loads(capsys.readouterr().out)
    schema = Path(__file__).parents[3] / "skyrl_doctor" / "logs" / "schema-diagnose-1.json"
    jsonschema.Draft202012Validator(json.loads(schema.read_text(encoding="utf-8"))).validate(data)
    assert (data["job"], data["root"]["id"]) == ("81231", "RUN005")
    assert [(one["job"], one["root"]["id"]) for one in data["other_jobs"]] == [("81230", "CKP003")]


def test_an_empty_log_of_one_job_is_not_healthy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _write(tmp_path, slurm_J0__out="", slurm_J1__out=FINE)
    assert dispatch(["diagnose", str(tmp_path)]) == 2
    assert "no output in" in capsys.readouterr().err


def test_the_page_is_about_the_newest_job_and_names_the_other(tmp_path: Path) -> None:
    _write(tmp_path, slurm_J0__out=FINE + FULL, slurm_J1__out="step:7 - actor/loss:0.2 - timing_s/step:9.0\n")
    job, cause, _ = read_job(str(tmp_path))
    assert [step.step for step in job.steps] == [7]
    assert cause.notes[:2] == (
        f"This page is about Slurm job 81231, the newest in this directory: {tmp_path}/slurm-81231.out.",
        f"Not on this page: Slurm job 81230. For a page of it: skyrl-doctor report {tmp_path}/slurm-81230.out",
    )
    assert cause.notes[2:] == (f"The log stops at step 7 without an error: {tmp_path}/slurm-81231.out:1",)


def test_of_runs_without_an_id_or_a_date_the_failed_one_comes_first(tmp_path: Path) -> None:
    for name, pid, end in (("a.log", 1, FULL), ("b.log", 2, FINE)):
        (tmp_path / name).write_text(f"(TaskRunner pid={pid}) hostname: gpu07\n{end}", encoding="utf-8")
    found = diagnose([str(tmp_path)])
    assert [(job.read, job.is_failed) for job in found.jobs] == [
        ((str(tmp_path / "a.log"),), True),
        ((str(tmp_path / "b.log"),), False),
    ]
