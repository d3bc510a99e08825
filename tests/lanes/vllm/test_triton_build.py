"""Triton's own build step fails where ENV001 says so, and only there."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fakes.pythons import headerless_venv
from skyrl_doctor.core.model import Status
from skyrl_doctor.machine.local import LocalMachine
from support import judge

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="this vLLM is a build without Triton"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed"),
]
BUILD = """
from triton.runtime.build import compile_module_from_src
source = '#include <Python.h>\\nstatic struct PyModuleDef m = {PyModuleDef_HEAD_INIT, "probe", 0, -1, 0};\\n'
compile_module_from_src(source + 'PyMODINIT_FUNC PyInit_probe(void) { return PyModule_Create(&m); }\\n', "probe")
"""


def says(python: str, tmp_path: Path, **changes: str) -> tuple[bool, Status]:
    """Whether Triton builds, and what the check says."""
    found = importlib.util.find_spec("triton")
    assert found is not None
    assert found.origin is not None
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "TRITON_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONPATH": str(Path(found.origin).parent.parent),
        "UV_PYTHON": python,
        **changes,
    }
    built = subprocess.run([python, "-c", BUILD], env=environ, capture_output=True, timeout=300, check=False)
    return built.returncode == 0, judge("ENV001", LocalMachine(environ)).status


@pytest.mark.parametrize("changes", [{}, {"CC": "gcc"}, {"CC": "gcc -m64"}, {"CC": ""}, {"PATH": "/nowhere"}])
def test_they_agree(tmp_path: Path, changes: dict[str, str]) -> None:
    builds = changes in ({}, {"CC": "gcc"})
    assert says(sys.executable, tmp_path, **changes) == (builds, Status.PASS if builds else Status.FAIL)


def test_they_agree_on_an_interpreter_without_headers(tmp_path: Path) -> None:
    assert says(str(headerless_venv(tmp_path)), tmp_path) == (False, Status.FAIL)
