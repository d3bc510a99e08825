"""TRN007 for real: what verl collects of an adapter under FSDP1 and FSDP2, and what vLLM makes of it."""

import json
from importlib.metadata import version
from pathlib import Path

import pytest

from lanes.stack.test_checkpoints import child
from skyrl_train.config.adapter import arrives_empty

pytestmark = pytest.mark.verl


@pytest.mark.parametrize("strategy", ["fsdp", "fsdp2"])
def test_the_rule_says_what_verl_does(strategy: str, tmp_path: Path) -> None:
    told = json.loads(child("sync", strategy, "dummy", cwd=tmp_path).splitlines()[-1])
    assert told["base"] == 27
    assert (not told["adapter"]) == arrives_empty(strategy=strategy, lora=True, peft=version("peft"))
    if told["adapter"]:  # two halves for each of seven maps in two layers
        assert len(told["adapter"]) == 28
