"""The model of the training lane, made once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cpu_stack.run import TESTS


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tiny")
    words = [sys.executable, "-m", "cpu_stack.tiny", str(made)]
    subprocess.run(words, env={**os.environ, "PYTHONPATH": str(TESTS)}, check=True, timeout=300)
    return made
