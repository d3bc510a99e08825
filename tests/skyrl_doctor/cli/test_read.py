"""skyrl-doctor read."""

import json
from pathlib import Path

import pytest

from skyrl_doctor.cli.app import dispatch

SCRIPT = "export X=1\npython3 -m verl.trainer.main_ppo actor_rollout_ref.rollout.n=4 data.truncation=left\n"


def test_each_setting_has_our_name_its_place_and_its_own_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.sh").write_text(SCRIPT)
    assert dispatch(["read", "train.sh"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "read as: verl"
    assert "rollout.n = 4  # train.sh:2 actor_rollout_ref.rollout.n" in lines
    assert "data.truncation = 'left'  # train.sh:2" in lines[lines.index("settings that a run.toml does not have:") :]


def test_a_secret_is_not_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "train.sh"
    script.write_text(f"export WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567\n{SCRIPT}")
    assert dispatch(["read", "--format", "json", str(script)]) == 0
    text = capsys.readouterr().out
    assert "0123456789abcdef" not in text
    found = json.loads(text)
    (key,) = [one for one in found["settings"] if one["name"] == "WANDB_API_KEY"]
    assert (found["dialect"], key["unknown"]) == ("verl", "it holds a secret")


def test_a_value_under_two_names_is_listed_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "train.sh"
    script.write_text("#SBATCH --nodes=2\n#SBATCH --gres=gpu:4\npython3 -m verl.trainer.main_ppo trainer.nnodes=2\n")
    assert dispatch(["read", "--format", "json", str(script)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in found["others"]] == ["#SBATCH --gres"]
