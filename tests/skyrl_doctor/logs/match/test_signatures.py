"""Signatures are loaded where logs are read, and nowhere else."""

import subprocess
import sys

_ASK = "import sys; from skyrl_doctor.core.registry import discover; discover(); print([n for n in sys.modules if '.signatures.' in n])"


def test_a_preflight_loads_no_signatures() -> None:
    done = subprocess.run([sys.executable, "-c", _ASK], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout == "[]\n"
