"""Which Slurm job wrote a log."""

import pytest

from skyrl_doctor.logs.read.blocks import Block
from skyrl_doctor.logs.read.slurm_job import LIMIT, SlurmJob, SlurmJobMarks, newest_first


def job_of(file: str, begin: bytes, at: int = 0) -> SlurmJob:
    marks = SlurmJobMarks(file)
    marks.add_block(Block(at, begin))
    return marks.job()


@pytest.mark.parametrize(
    ("file", "begin", "id_"),
    [
        ("slurm-81230.out", b"", "81230"),
        ("/jobs/slurm-81230_4.out", b"", "81230_4"),
        ("slurm-12-n01.out", b"", "12"),
        ("grpo-81230.err", b"", "81230"),
        ("grpo_81230_4.out", b"", "81230_4"),
        ("81230.out", b"", "81230"),
        ("logs/81230/ray/worker-0c1f-01000000-99123.out", b"", "81230"),
        ("worker-0c1f-01000000-99123.out", b"", ""),
        ("node-1234.out", b"", ""),
        ("train-20261123.out", b"", ""),
        ("20261123/train.log", b"", ""),
        ("train-12345.log", b"", ""),
        ("train.log", b"SLURM_JOB_ID=81230\nSLURM_JOBID=81230\n", "81230"),
        ("train.log", b"slurmstepd: error: *** STEP 81230.0 ON n01 CANCELLED ***", "81230"),
        ("train.log", b"submitted as SLURM_JOB_ID=81230, after SLURM_JOB_ID=81229", ""),
        ("slurm-81230.out", b"SLURM_JOB_ID=81234", "81230"),
        ("train.log", b"5 of 81230 samples", ""),
    ],
)
def test_the_job_of_a_log(file: str, begin: bytes, id_: str) -> None:
    assert job_of(file, begin) == SlurmJob(id_)


def test_a_log_names_the_job_that_it_continues() -> None:
    found = job_of("slurm-81231.out", b"requeued: this run continues job 81230\n")
    assert found == SlurmJob("81231", frozenset({"81230"}))


def test_the_newest_job_comes_first_and_logs_without_one_come_last() -> None:
    assert newest_first(["", "9999", "81230_2", "81230_10"]) == ["81230_10", "81230_2", "9999", ""]


def test_only_the_first_bytes_name_a_job() -> None:
    assert job_of("train.log", b"SLURM_JOB_ID=81230", at=LIMIT) == SlurmJob()
