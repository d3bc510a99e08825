"""The error that a job's own program wrote last."""

from pathlib import Path

from skyrl_train.launch.directory import log
from skyrl_train.launch.payload_error import payload_error
from skyrl_train.launch.role import Role


def test_the_last_error_of_this_turn_is_found(tmp_path: Path) -> None:
    path = tmp_path / log(Role.RUNTIME, "7", "err")
    path.write_text("skyrl-train runtime: an earlier turn\nother text\n")
    assert payload_error(str(tmp_path), Role.RUNTIME, "7", 0) == "an earlier turn"
    start = path.stat().st_size
    assert payload_error(str(tmp_path), Role.RUNTIME, "7", start) == ""
    with path.open("a") as file:
        file.write("skyrl-train runtime serve: no usable store: \x1b[31mred\nskyrl-train job: runtime: done\n")
    assert payload_error(str(tmp_path), Role.RUNTIME, "7", start) == "no usable store: ?[31mred"


def test_news_of_a_trainer_are_no_error(tmp_path: Path) -> None:
    (tmp_path / log(Role.TRAINER, "local", "err")).write_text(
        "skyrl-train train: error: no free port\nskyrl-train train: syncing weights\n" + "x" * 4000 + "\n"
    )
    assert payload_error(str(tmp_path), Role.TRAINER, "", 0) == "no free port"


def test_without_a_log_there_is_none(tmp_path: Path) -> None:
    assert payload_error(str(tmp_path), Role.TRAINER, "8", 0) == ""
