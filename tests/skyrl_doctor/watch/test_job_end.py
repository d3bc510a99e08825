"""When a job is over, and when it is not."""

from pathlib import Path

from skyrl_doctor.watch.job_end import JobEnd, after_check, after_growth, after_observation, is_over
from skyrl_doctor.watch.observations import Hit, Left


def hit(slug: str) -> Hit:
    return Hit(at=10.0, id=None, slug=slug, root=False, cascade=True, file="t", line=1, text="x", explain="")


def over(ending: JobEnd, job_dir: Path, now: float, *, alive: bool | None = None) -> str:
    return after_check(ending, str(job_dir), now, alive=alive).why


def test_slurm_s_last_words_after_which_nothing_grows(tmp_path: Path) -> None:
    ending = after_observation(JobEnd(), hit("cancelled"))
    assert over(ending, tmp_path, 300.0) == ""
    assert over(ending, tmp_path, 310.0) == "a log has a final line and no log has grown since"
    assert over(after_growth(ending, 200.0), tmp_path, 310.0) == ""
    assert over(after_observation(JobEnd(), hit("killed")), tmp_path, 9000.0) == ""


def test_processes_slurm_and_the_directory(tmp_path: Path) -> None:
    assert over(JobEnd(), tmp_path, 5.0) == ""
    assert over(JobEnd(), tmp_path, 5.0, alive=True) == ""
    assert over(JobEnd(), tmp_path, 5.0, alive=False) == "the process exited"
    assert over(JobEnd(), tmp_path / "gone", 5.0) == f"{tmp_path / 'gone'} was removed"
    gone = Left(at=5.0, job="trainer", seconds=None, state="GONE")
    assert after_observation(JobEnd(), gone).why == "the job's state in Slurm is GONE"
    assert after_observation(JobEnd(), Left(at=5.0, job="runtime", seconds=None, state="GONE")).why == ""


def test_the_logs_are_read_on_for_a_moment(tmp_path: Path) -> None:
    (tmp_path / "training_complete.flag").touch()
    ending = after_check(JobEnd(), str(tmp_path), 10.0, alive=None)
    assert [is_over(ending, now) for now in (10.0, 11.0, 12.0)] == [False, False, True]
    growing = after_growth(ending, 11.5)
    assert [is_over(growing, now) for now in (12.0, 13.5)] == [False, True]
