"""Reports of earlier jobs are removed, and nothing else."""

import os
from pathlib import Path

from skyrl_doctor.nodes.old_reports import MOST_JOBS, remove


def job(directory: Path, name: str, at: int, *files: str) -> None:
    (directory / name).mkdir()
    for file in files or ("gpu1.json", "nodes_failing.txt"):
        (directory / name / file).touch()
    os.utime(directory / name, (at, at))


def test_the_newest_jobs_stay(tmp_path: Path) -> None:
    for number in range(8):
        job(tmp_path, str(100 + number), at=number)
    remove(str(tmp_path), keep="107")
    assert sorted(os.listdir(tmp_path)) == [str(108 - number) for number in range(MOST_JOBS, 0, -1)]


def test_the_directory_in_use_stays_however_old_it_is(tmp_path: Path) -> None:
    for number in range(8):
        job(tmp_path, str(100 + number), at=number)
    remove(str(tmp_path), keep="100")
    assert sorted(os.listdir(tmp_path)) == ["100", "104", "105", "106", "107"]


def test_what_is_not_ours_stays(tmp_path: Path) -> None:
    for number in range(6):
        job(tmp_path, str(100 + number), at=100 + number)
    job(tmp_path, "1", 1, "gpu1.json", "notes.md")
    job(tmp_path, "my-notes", 1)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "2").symlink_to(tmp_path / "elsewhere")
    remove(str(tmp_path), keep="105")
    assert {"1", "2", "my-notes", "elsewhere"} <= set(os.listdir(tmp_path))
    remove(str(tmp_path / "none"), keep="1")
