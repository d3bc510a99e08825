import os
from pathlib import Path

import pytest

from checkpoint_files import save
from skyrl_train.checkpoints import finish
from skyrl_train.checkpoints.places import checkpoint_root, work_dir_of
from skyrl_train.config.run import RunConfig
from skyrl_train.launch.status import _checkpoint


def config(place: str) -> RunConfig:
    return RunConfig.model_validate({"model": {"path": "m"}, "trainer": {"checkpoint_dir": place, "project": "p"}})


def test_relative_places_begin_where_the_launch_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/u")
    assert checkpoint_root(config("c"), "/w") == "/w/c/p/run"
    assert checkpoint_root(config("/d"), "/w") == "/d/p/run"
    assert checkpoint_root(config("~/d"), "/w") == "/home/u/d/p/run"


def test_a_launch_was_made_beside_the_directory_of_launches() -> None:
    assert work_dir_of("/w/.skyrl_jobs/20260101_000000_launch") == "/w"
    assert work_dir_of("/elsewhere/job") == os.getcwd()


def test_status_names_the_step_that_a_resume_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _checkpoint(str(tmp_path)) == f"no complete checkpoint in {tmp_path}"
    save(tmp_path, 7)
    finish(str(tmp_path), 7)
    save(tmp_path, 8).joinpath("data.pt").unlink()  # the tracker says 8
    told = _checkpoint(str(tmp_path))
    assert (told[:10], told.partition(", ")[2]) == ("step 7 at ", f"{tmp_path}/global_step_7")
    (tmp_path / "file").write_text("")
    assert (
        _checkpoint(f"{tmp_path}/file") == f"{tmp_path}/file: Not a directory; give a readable directory of checkpoints"
    )
