"""The variables in verl's table are found in its text; texts of other kinds are none."""

import sys
from pathlib import Path

import pytest

from skyrl_train.rl.forks.given import given_by_verl, written_in


def test_the_texts_for_vllm_are_found_and_nothing_else() -> None:
    table = '{"env_vars": {"VLLM_LOGGING_LEVEL": "WARN", "NCCL_DEBUG": "WARN", "VLLM_PORT": 1, **more, VLLM_X: "1"}}'
    assert written_in(f"import os\nTABLE = {table}\n") == {"VLLM_LOGGING_LEVEL": "WARN"}


@pytest.mark.parametrize("text", [None, "TABLE = {"])
def test_a_verl_without_a_table_gives_nothing(
    text: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "verl" / "trainer"
    folder.mkdir(parents=True)
    (tmp_path / "verl" / "__init__.py").touch()
    if text:
        (folder / "constants_ppo.py").write_text(text, encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert given_by_verl() == {}
