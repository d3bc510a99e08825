"""When a job is over, and when it is not."""

from pathlib import Path

from skyrl_doctor.watch.job_end import Ending, grown, is_over, looked, noted
from skyrl_doctor.watch.observations import Hit, Left


def hit(slug: str) -> Hit:
    return Hit(at=10.0, id=None, slug=slug, root=False, cascade=True, file="t", line=1, text="x", explain="")


def over(ending: Ending, job_dir: Path, now: float, *, alive: bool | None = None) -> str:
    return looked(ending, str(job_dir), now, alive=alive).why


def test_slurm_s_last_words_after_which_nothing_grows(tmp_path: Path) -> None:
    ending = noted(Ending(), hit("cancelled"))
    assert over(ending, tmp_path, 300.0) == ""
    assert over(ending, tmp_path, 310.0) == "the logs say so, and grow no more"
    assert over(grown(ending, 200.0), tmp_path, 310.0) == ""
    assert over(noted(Ending(), hit("killed")), tmp_path, 9000.0) == ""


def test_processes_slurm_and_the_directory(tmp_path: Path) -> None:
    assert over(Ending(), tmp_path, 5.0) == ""
    assert over(Ending(), tmp_path, 5.0, alive=True) == ""
    assert over(Ending(), tmp_path, 5.0, alive=False) == "the process has ended"
    assert over(Ending(), tmp_path / "gone", 5.0) == f"{tmp_path / 'gone'} is gone"
    gone = Left(at=5.0, job="trainer", seconds=None, state="GONE")
    assert noted(Ending(), gone).why == "Slurm says that the job is GONE"
    assert noted(Ending(), Left(at=5.0, job="runtime", seconds=None, state="GONE")).why == ""


def test_the_logs_are_read_on_for_a_moment(tmp_path: Path) -> None:
    (tmp_path / "training_complete.flag").touch()
    ending = looked(Ending(), str(tmp_path), 10.0, alive=None)
    assert [is_over(ending, now) for now in (10.0, 11.0, 12.0)] == [False, False, True]
    growing = grown(ending, 11.5)
    assert [is_over(growing, now) for now in (12.0, 13.5)] == [False, True]
