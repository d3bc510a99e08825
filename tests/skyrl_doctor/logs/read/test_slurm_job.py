"""What the first lines of a log say of its Slurm job."""

import pytest

from skyrl_doctor.logs.read.blocks import Block
from skyrl_doctor.logs.read.slurm_job import LIMIT, JobWords, JobWordsReader


def words_of(begin: bytes, at: int = 0) -> JobWords:
    reader = JobWordsReader()
    reader.add_block(Block(at, begin))
    return reader.words()


@pytest.mark.parametrize(
    ("begin", "ids"),
    [
        (b"SLURM_JOB_ID=81230\nSLURM_JOBID=81230\n", {"81230"}),
        (b"slurmstepd: error: *** STEP 81230.0 ON n01 CANCELLED ***", {"81230"}),
        (b"submitted as SLURM_JOB_ID=81230, after SLURM_JOB_ID=81229", {"81230", "81229"}),
        (b"5 of 81230 samples", set()),
    ],
)
def test_the_ids_that_a_log_prints(begin: bytes, ids: set[str]) -> None:
    assert words_of(begin) == JobWords(frozenset(ids))


@pytest.mark.parametrize(
    ("begin", "task"),
    [
        (b"SLURM_ARRAY_JOB_ID=81230\nSLURM_ARRAY_TASK_ID=4\n", "81230_4"),
        (b"{'SLURM_ARRAY_JOB_ID': '81230', 'SLURM_ARRAY_TASK_ID': '0'}", "81230_0"),
        (b"SLURM_ARRAY_JOB_ID=81230\n", ""),
        (b"SLURM_ARRAY_JOB_ID=81230 SLURM_ARRAY_TASK_ID=1\nSLURM_ARRAY_TASK_ID=2\n", ""),
    ],
)
def test_the_task_of_an_array(begin: bytes, task: str) -> None:
    assert words_of(begin).array_task == task


def test_a_log_names_the_job_that_it_continues() -> None:
    assert words_of(b"requeued: this run continues job 81230\n") == JobWords(continues=frozenset({"81230"}))


def test_only_the_first_bytes_name_a_job() -> None:
    assert words_of(b"SLURM_JOB_ID=81230", at=LIMIT) == JobWords()


def test_the_driver_of_a_run_by_its_first_line_and_its_number() -> None:
    reader = JobWordsReader()
    reader.add_block(Block(0, b"fine\n09:12 INFO Started a local Ray instance.\n(TaskRunner pid=41) hostname: gpu07\n"))
    assert reader.words().driver == "41 09:12 INFO Started a local Ray instance."


def test_a_log_may_name_several_drivers() -> None:
    begin = b"(TaskRunner pid=41) a\n(TaskRunner pid=41) b\n(main_task pid=42) c\n(skyrl_entrypoint pid=43) d\n"
    assert words_of(begin).driver_pids == frozenset({"41", "42", "43"})
