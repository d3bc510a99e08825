"""Other projects' packages, tests and fixtures as judges of ours."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "tests"))  # the sample reports of our tests
