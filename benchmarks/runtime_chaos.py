"""A hundred rounds of blows at a runtime server under load; six with --short.

python -m benchmarks.runtime_chaos [--short]

Runs as the podman lane does, which makes the user and the store for it.
"""

import os
import subprocess
import sys

LANE = "tests/lanes/podman/test_runtime_chaos.py"

if __name__ == "__main__":
    count = "6" if "--short" in sys.argv else "100"
    words = ["-n", "0", "-q", "-s", "-m", "podman", "--require=podman", LANE]
    sys.exit(subprocess.call([sys.executable, "-m", "pytest", *words], env={**os.environ, "RUNTIME_ROUNDS": count}))
