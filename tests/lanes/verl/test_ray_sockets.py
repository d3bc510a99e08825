"""Ray itself refuses the paths that ENV006 refuses, and takes the ones that the cure gives."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from skyrl_train.node.ray_tmp import LIMIT_BYTES, ray_socket, socket_settings

pytestmark = pytest.mark.verl

ASK = """
import json, ray._common.utils as utils
from ray._private.utils import validate_socket_filepath
refused = []
for length in (106, 107, 108):
    try:
        validate_socket_filepath("/" + "x" * (length - 1))
    except OSError as error:
        refused.append([length, str(error)])
print(json.dumps([utils.get_default_ray_temp_dir(), refused]))
"""
START = """
import ray
ray.init(num_cpus=1, include_dashboard=False, object_store_memory=80_000_000, _node_ip_address="127.0.0.1")
print("plasma:", ray._private.worker.global_worker.node.plasma_store_socket_name)
ray.shutdown()
"""


def python(code: str, **environ: str) -> subprocess.CompletedProcess[str]:
    plain = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "RAY_USAGE_STATS_ENABLED": "0"}
    argv = [sys.executable, "-c", code]
    return subprocess.run(argv, env={**plain, **environ}, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize("environ", [{}, {"TMPDIR": "/t"}, {"TMPDIR": "/t", "RAY_TMPDIR": "/r"}, {"RAY_TMPDIR": ""}])
def test_the_temporary_directory_and_the_limit_are_rays(environ: dict[str, str]) -> None:
    directory, refused = json.loads(python(ASK, **environ).stdout)
    assert ray_socket(environ).path.startswith(f"{directory}/session_")
    text = f"validate_socket_filename failed: AF_UNIX path length cannot exceed {LIMIT_BYTES} bytes: "
    assert refused == [[LIMIT_BYTES + 1, text + "/" + "x" * LIMIT_BYTES]]


def test_ray_dies_of_a_deep_directory_and_starts_in_the_one_of_the_cure(tmp_path: Path) -> None:
    deep = str(tmp_path / ("d" * 80))
    died = python(START, TMPDIR=deep)
    assert died.returncode == 1
    assert f"AF_UNIX path length cannot exceed {LIMIT_BYTES} bytes: {deep}/ray/session_" in died.stderr
    (setting, *_) = socket_settings({"TMPDIR": deep}, uid=os.getuid(), job_id=str(os.getpid())).settings
    assert (setting.name, setting.value) == ("RAY_TMPDIR", f"/tmp/r{os.getpid()}")
    try:
        started = python(START, TMPDIR=deep, RAY_TMPDIR=str(setting.value))
    finally:
        shutil.rmtree(str(setting.value), ignore_errors=True)
    (line,) = (line for line in started.stdout.splitlines() if line.startswith("plasma: "))
    path = line.removeprefix("plasma: ")
    # The date and the process id differ, and the number of their digits with the id's.
    digits = len(path.split("/")[-3].rpartition("_")[2])
    assert len(path) == ray_socket({"RAY_TMPDIR": str(setting.value)}, pid_digits=digits).length
