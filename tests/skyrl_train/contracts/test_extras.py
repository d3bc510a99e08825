"""The command that installs what an optional command needs."""

import pytest

from skyrl_train.contracts import extras


def test_the_packages_are_named_so_that_no_index_must_have_this_project(monkeypatch: pytest.MonkeyPatch) -> None:
    stated = [
        "rich>=14.2",
        "skyrl-doctor[data]; extra == 'train'",
        "textual>=8.2; extra == 'tui'",
        'verl[vllm]==0.9.1; (python_version >= "3.12") and extra == "train"',
    ]
    monkeypatch.setattr("importlib.metadata.requires", lambda _name: stated)
    assert extras.install("tui", python="/p") == "/p -m pip install 'textual>=8.2'"
    assert extras.install("train", python="/p") == "/p -m pip install 'verl[vllm]==0.9.1'"


def test_each_extra_that_a_message_names_has_packages() -> None:
    assert [extra for extra in ("data", "launch", "plots", "runtime", "train", "tui") if not extras.needed(extra)] == []
