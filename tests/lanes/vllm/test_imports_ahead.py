"""What the fork server imports before Ray is started, with the installed vLLM and verl."""

import json
import os
import subprocess
import sys

import pytest

from skyrl_train.rl.forks.given import given_by_verl
from skyrl_train.rl.forks.start import FIRST

pytestmark = pytest.mark.vllm
LIMIT_S = 300
IMPORTS = """
import importlib, json, sys
for name in sys.argv[1:]:
    try: importlib.import_module(name)
    except ModuleNotFoundError as error: print(error, file=sys.stderr)
print(json.dumps(sorted(name for name in sys.modules if name in ("ray", "vllm.config", "verl"))))
"""
GIVEN = """
import json
from verl.trainer.constants_ppo import get_ppo_ray_runtime_env
print(json.dumps(get_ppo_ray_runtime_env()["env_vars"]))
"""


def answer(code: str, *words: str) -> object:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("VLLM_")}
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, timeout=LIMIT_S, check=True, env=environ
    )
    return json.loads(done.stdout.splitlines()[-1])


def test_nothing_imports_ray_before_its_job_is_known() -> None:
    assert answer(IMPORTS, *FIRST) == ["vllm.config"]


def test_vllm_is_imported_with_the_variables_that_verl_gives_its_workers() -> None:
    given = answer(GIVEN)
    assert isinstance(given, dict)
    of_vllm = {name: value for name, value in given.items() if name.startswith("VLLM_") and value != "0"}
    assert given_by_verl() == of_vllm
    assert of_vllm
