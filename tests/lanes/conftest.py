"""What the lanes that train have in common: one tiny model for a whole session."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
LIMIT_S = 600.0


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made by a program of its own: torch and transformers stay out of the tests' process."""
    made = tmp_path_factory.mktemp("tiny")
    words = [sys.executable, "-m", "cpu_stack.tiny", str(made)]
    env = {**os.environ, "PYTHONPATH": str(TESTS)}
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return made
