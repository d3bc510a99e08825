"""The directory in which a run of prime-rl has the logs of its processes."""

import os
from collections import defaultdict
from collections.abc import Iterable

from skyrl_doctor.logs.read.job_names import stem

ORCHESTRATOR = "orchestrator"
OTHERS = frozenset({"rl", "trainer", "inference"})
"""`rl` is the launcher; trainer and inference server have a log each, or a directory with one for each node."""


def prime_directories(files: Iterable[str]) -> frozenset[str]:
    """The directories with the log of an orchestrator and another of prime-rl's logs, each with a slash at its end."""
    names: dict[str, set[str]] = defaultdict(set)
    for file in files:
        where, name = os.path.split(file)
        names[where].add(stem(name))
        above, directory = os.path.split(where)
        names[above].add(directory)
    return frozenset(
        os.path.join(where, "") for where, some in names.items() if where and ORCHESTRATOR in some and some & OTHERS
    )
