"""What the trainer reads of TransferQueue, which is not here."""

import sys
from importlib import import_module
from types import ModuleType

import pytest


def test_a_key_that_is_being_written_is_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rollout of another step ends while this step is sampled: its key is there a moment before its tag."""
    queue = ModuleType("transfer_queue")
    kept = {"p_0_0": {"row": 3, "why": ""}, "q_0_0": {}}
    vars(queue)["kv_list"] = lambda partition: {partition: kept}
    monkeypatch.setitem(sys.modules, "transfer_queue", queue)
    monkeypatch.delitem(sys.modules, "skyrl_train.rl.transfer", raising=False)
    transfer = import_module("skyrl_train.rl.transfer")
    monkeypatch.delitem(sys.modules, "skyrl_train.rl.transfer")
    assert transfer.tags("skyrl_ends") == {"p_0_0": {"row": 3, "why": ""}}
