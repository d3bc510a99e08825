"""TRN007 for real: what verl collects of an adapter under FSDP1 and FSDP2, and what vLLM makes of it."""

import json
import subprocess
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest

from lanes.stack.test_checkpoints import LIMIT_S, child
from skyrl_train.config.adapter import arrives_empty

pytestmark = pytest.mark.verl
VLLM = str(Path(__file__).parent / "vllm_adapter.py")


@pytest.mark.parametrize("strategy", ["fsdp", "fsdp2"])
def test_the_rule_says_what_verl_does_and_vllm_dies_of_it(strategy: str, tmp_path: Path) -> None:
    told = json.loads(child("sync", strategy, "dummy", cwd=tmp_path).splitlines()[-1])
    empty = arrives_empty(strategy=strategy, lora=True, peft=version("peft"))
    assert told["base"] == 27
    assert len(told["adapter"]) == (0 if empty else 28)  # two halves for each of seven maps in two layers
    if find_spec("vllm") is None:
        return
    done = subprocess.run(
        [sys.executable, VLLM, "adapter.pt"], capture_output=True, text=True, timeout=LIMIT_S, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr[-2000:]
    made = json.loads(done.stdout.splitlines()[-1])
    assert made == ({"died": "_create_merged_loras_inplace"} if empty else {"added": True, "changed": True})
