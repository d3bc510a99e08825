"""Triton, vLLM and Inductor themselves say where their caches and sockets lie."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from skyrl_train.node.caches import caches
from skyrl_train.node.ray_tmp import vllm_socket

pytestmark = pytest.mark.vllm

ASK = """
import importlib.util, json
said = {}
if importlib.util.find_spec("triton"):
    from triton import knobs
    said["Triton"] = knobs.cache.dir
if importlib.util.find_spec("torch"):
    from torch._inductor.runtime.cache_dir_utils import cache_dir
    said["Inductor"] = cache_dir()
if importlib.util.find_spec("vllm.envs"):
    import vllm.envs
    said["vLLM"] = vllm.envs.VLLM_CACHE_ROOT
    said["socket"] = vllm.envs.VLLM_RPC_BASE_PATH
print("said:" + json.dumps(said))
"""


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"TRITON_HOME": "/th", "XDG_CACHE_HOME": "/xdg"},
        {"TRITON_CACHE_DIR": "", "VLLM_CACHE_ROOT": "~/v", "VLLM_RPC_BASE_PATH": "/rpc"},
        {"TRITON_HOME": "", "VLLM_CACHE_ROOT": ""},
        {"TRITON_CACHE_DIR": "~/t", "LOGNAME": "a:b"},
    ],
)
def test_each_program_agrees(tmp_path: Path, changes: dict[str, str]) -> None:
    base = {"HOME": str(tmp_path), "TMPDIR": str(tmp_path), "USER": "me", "PATH": os.environ["PATH"]}
    environ = {**base, **changes}
    done = subprocess.run(
        [sys.executable, "-c", ASK], env=environ, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=True
    )
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("said:"))
    said = json.loads(line.removeprefix("said:"))
    ours = {cache.program: cache.path for cache in caches(environ, home=str(tmp_path), user="me")}
    ours["socket"] = vllm_socket(environ).base
    assert said == {name: path for name, path in ours.items() if name in said}


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="this vLLM is a build without Triton")
def test_an_empty_cache_variable_is_an_error_of_tritons(tmp_path: Path) -> None:
    code = "from triton.runtime.cache import get_cache_manager; get_cache_manager('ab' * 32)"
    environ = {"HOME": str(tmp_path), "TRITON_CACHE_DIR": "", "PATH": os.environ["PATH"]}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environ, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.stderr.splitlines()[-1] == "RuntimeError: Could not create or locate cache dir"
