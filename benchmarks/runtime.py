"""200 sandboxes through the runtime server, at concurrency 8, beside bare Podman in the same run; commands in a sandbox
beside local ones; the server's memory; a gigabyte up and down, and 10 MB/s of output, with the memory of all three sides.

python -m benchmarks.runtime [--short]

Runs as the podman lane does, which makes the user and the store for it. Prints a line of JSON for each.
"""

import os
import subprocess
import sys

LANE = ("tests/lanes/podman/test_runtime_load.py", "tests/lanes/podman/test_runtime_memory.py")

if __name__ == "__main__":
    count = "16" if "--short" in sys.argv else "200"
    words = ["-n", "0", "-q", "-s", "-m", "podman", "--require=podman", *LANE]
    sys.exit(subprocess.call([sys.executable, "-m", "pytest", *words], env={**os.environ, "RUNTIME_SANDBOXES": count}))
