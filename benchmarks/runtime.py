"""200 sandboxes through the runtime server, at concurrency 8, beside bare Podman in the same run.

python -m benchmarks.runtime [--short]

Runs as the podman lane does, which makes the user and the store for it. Prints one line of JSON.
"""

import os
import subprocess
import sys

LANE = "tests/lanes/podman/test_runtime_load.py"

if __name__ == "__main__":
    count = "16" if "--short" in sys.argv else "200"
    words = ["-n", "0", "-q", "-s", "-m", "podman", "--require=podman", LANE]
    sys.exit(subprocess.call([sys.executable, "-m", "pytest", *words], env={**os.environ, "RUNTIME_SANDBOXES": count}))
