"""What the two jobs tell each other."""

import json
from datetime import datetime
from pathlib import Path

import pytest

from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.job_files import READY, URL
from skyrl_train.launch.directory import (
    Ended,
    adopt,
    create,
    latest,
    read_ended,
    read_jobs,
    runtime_url,
    write,
    write_ended,
    write_jobs,
)
from skyrl_train.launch.role import Role

NOW = datetime(2026, 1, 22, 23, 2, 11)  # noqa: DTZ001 -- a name for the user's own clock


def test_two_launches_of_one_second_have_two_directories(tmp_path: Path) -> None:
    made = [create(str(tmp_path), NOW) for _ in range(2)]
    assert [Path(path).name for path in made] == ["20260122_230211_launch", "20260122_230211_1_launch"]
    assert Path(made[0]).stat().st_mode & 0o777 == 0o700
    assert latest(str(tmp_path)) == made[1]


def test_no_room_for_a_directory_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="Not a directory"):
        create(str(tmp_path / "file"), NOW)
    with pytest.raises(UsageError, match="Not a directory"):
        adopt(str(tmp_path / "file" / "job"))


@pytest.mark.parametrize("name", [READY, URL, "jobs.json", "training_complete.flag"])
def test_a_directory_of_an_earlier_launch_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("x")
    with pytest.raises(UsageError, match=name):
        adopt(str(tmp_path))


def test_no_launches_are_told(tmp_path: Path) -> None:
    for root in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(UsageError, match="no launch found"):
            latest(str(root))


def test_jobs_and_ends_are_read_as_they_were_written(tmp_path: Path) -> None:
    at = str(tmp_path)
    assert (read_jobs(at), read_ended(at, Role.RUNTIME)) == ({}, None)
    write_jobs(at, {Role.RUNTIME: "7"})
    write_ended(at, Role.RUNTIME, Ended(78, "the gate refused", 1.5))
    assert (read_jobs(at), read_ended(at, Role.RUNTIME)) == ({"runtime": "7"}, Ended(78, "the gate refused", 1.5))


@pytest.mark.parametrize("text", ["", "[]", "{", '{"status": 1}', "null"])
def test_damaged_files_are_no_answers(tmp_path: Path, text: str) -> None:
    (tmp_path / "jobs.json").write_text(text)
    (tmp_path / "trainer_ended.json").write_text(text)
    assert read_jobs(str(tmp_path)) == {}
    found = read_ended(str(tmp_path), Role.TRAINER)
    assert found is None or found.reason == "trainer_ended.json is damaged"


@pytest.mark.parametrize("job_id", ["--user=me", "", "1 2", "local:", "local:-1", "local:x", "\u0661", 1.5, None, [7]])
def test_nothing_but_an_id_comes_out_of_the_list_of_jobs(tmp_path: Path, job_id: object) -> None:
    (tmp_path / "jobs.json").write_text(json.dumps({"runtime": 7, "trainer": job_id, "other": "8"}))
    assert read_jobs(str(tmp_path)) == {"runtime": "7"}


def test_the_address_counts_once_the_flag_is_there(tmp_path: Path) -> None:
    (tmp_path / URL).write_text("http://node:1\n")
    assert runtime_url(str(tmp_path)) is None
    (tmp_path / READY).write_text("http://node:1\n")
    assert runtime_url(str(tmp_path)) == "http://node:1"


@pytest.mark.parametrize(
    "text", ["", "http://a b", "Loading\nhttp://a", "http://a\nhttp://b\n", "ftp://a", "\x1b[0mhttp://a"]
)
def test_anything_but_one_url_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / READY).write_text("")
    (tmp_path / URL).write_text(text)
    with pytest.raises(UsageError, match="expected one URL and nothing else"):
        runtime_url(str(tmp_path))


def test_a_flag_without_an_address_is_told(tmp_path: Path) -> None:
    (tmp_path / READY).write_text("")
    with pytest.raises(UsageError, match="was stopped during its start"):
        runtime_url(str(tmp_path))


def test_a_full_disk_is_told_and_leaves_no_half_file() -> None:
    with pytest.raises(UsageError, match="cannot write /proc/nowhere/a"):
        write("/proc/nowhere", "a", "text")
