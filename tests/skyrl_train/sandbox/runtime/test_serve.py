"""What a server asks of its process before it opens anything."""

import subprocess
import sys

PROGRAM = """
import resource
from skyrl_train.sandbox.runtime.serve import raise_descriptor_limit
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
raise_descriptor_limit()
print(resource.getrlimit(resource.RLIMIT_NOFILE) == (min(hard, 65536) if hard > 0 else 65536, hard))
"""


def test_the_soft_limit_of_descriptors_is_raised() -> None:
    """Each connection to a sandbox takes two, and the usual limit is 1024."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300, check=False)
    assert (done.stdout, done.returncode) == ("True\n", 0), done.stderr
