"""Which file was meant by a name that does not exist."""

from pathlib import Path

import pytest

from skyrl_doctor.cli.app import dispatch as doctor
from skyrl_train.cli.app import dispatch as train
from skyrl_train.contracts.similar_path import did_you_mean


def test_the_nearest_name_of_the_directory(tmp_path: Path) -> None:
    (tmp_path / "trainer.log").touch()
    (tmp_path / "runtime.log").touch()
    assert did_you_mean(f"{tmp_path}/trianer.log") == f"; did you mean {tmp_path}/trainer.log?"
    assert did_you_mean(f"{tmp_path}/other.txt") == ""
    assert did_you_mean(f"{tmp_path}/absent/trainer.log") == ""


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (doctor, ("diagnose",)),
        (doctor, ("report",)),
        (doctor, ("watch",)),
        (train, ("show",)),
        (train, ("view",)),
    ],
)
def test_a_command_asks_for_the_name_that_was_meant(
    program: object, words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "trainer.log").touch()
    assert callable(program)
    assert program([*words, f"{tmp_path}/trianer.log"]) == 2
    assert f"did you mean {tmp_path}/trainer.log?" in " ".join(capsys.readouterr().err.split())
