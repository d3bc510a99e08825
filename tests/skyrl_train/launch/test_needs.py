"""What our own programs want of their interpreters."""

import sys
from pathlib import Path

import pytest

from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.extras import install
from skyrl_train.launch import needs
from skyrl_train.launch.needs import NEEDED, refuse_without_packages
from skyrl_train.launch.role import Role


def interpreter(at: Path, body: str) -> str:
    path = at / "python"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("another", [False, True])
def test_what_is_missing_is_named_with_its_cure(another: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = interpreter(tmp_path, f'exec {sys.executable} "$@"') if another else sys.executable
    monkeypatch.setitem(NEEDED, Role.RUNTIME, ("json", "of_nobody"))
    with pytest.raises(UsageError) as error:
        refuse_without_packages(Role.RUNTIME, python)
    assert str(error.value) == (
        f"{python} has no of_nobody, which the runtime needs (extra runtime); run {install('runtime', python=python)}"
    )
    monkeypatch.setitem(NEEDED, Role.RUNTIME, ("json",))
    refuse_without_packages(Role.RUNTIME, python)


@pytest.mark.parametrize("body", ["exit 1", "exec sleep 600"])
def test_an_interpreter_that_does_not_answer_is_the_node_s_affair(
    body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(needs, "LIMIT_S", 0.2)
    refuse_without_packages(Role.TRAINER, interpreter(tmp_path, body))
    refuse_without_packages(Role.TRAINER, "/no/such/python")
