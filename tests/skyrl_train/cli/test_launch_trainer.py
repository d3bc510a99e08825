"""A launch whose trainer job would find no program."""

from pathlib import Path

import pytest

from skyrl_train.cli.app import dispatch

MIG20 = Path(__file__).parents[3] / "examples" / "mig20.toml"


def test_is_refused_before_anything_is_made(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert dispatch(["launch", str(MIG20), "--no-gate"]) == 2
    assert "say --trainer-command CMD" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
