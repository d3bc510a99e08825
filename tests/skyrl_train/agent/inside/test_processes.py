"""Processes of the tools."""

import subprocess
import sys

from skyrl_train.agent.inside.processes import run_program

_SEALED = "import ctypes; from {module} import seal; seal(); print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"


def test_the_tools_and_the_agent_server_cannot_be_traced() -> None:
    for module in ("skyrl_train.agent.inside.processes", "skyrl_train.sandbox.sandboxd.children"):
        words = [sys.executable, "-c", _SEALED.format(module=module)]
        assert subprocess.run(words, capture_output=True, text=True, timeout=60, check=True).stdout == "0\n"


def test_a_program_has_a_time_limit() -> None:
    assert run_program([sys.executable, "-c", "while True: pass"], 0.5) is None
    done = run_program([sys.executable, "-c", "print(1)"], 60)
    assert done is not None
    assert done.stdout == b"1\n"
