"""Seconds a rollout and samples an hour with grading in a new sandbox, beside grading in the agent's own.

python -m benchmarks.grading [--short]

Runs as the attacks lane does, with real Podman sandboxes. Prints a line of JSON.
"""

import os
import subprocess
import sys

LANE = "tests/lanes/attacks/test_cost.py"

if __name__ == "__main__":
    count = "4" if "--short" in sys.argv else "16"
    words = ["-n", "0", "-q", "-s", "-m", "attacks", "--require=attacks", LANE]
    sys.exit(subprocess.call([sys.executable, "-m", "pytest", *words], env={**os.environ, "GRADED_ROLLOUTS": count}))
