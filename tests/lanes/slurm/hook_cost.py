"""What the site's scripts cost a job: medians of srun on one cluster, in turns, without scripts, with empty ones, with ours.

    PYTHONPATH=tests python -m lanes.slurm.hook_cost [--only WORD] [--rounds N] [--each N]

Ours minus the empty ones is what the doctor adds for a job that is not ours. A job that asks is compared with the same job.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import product

from lanes.slurm.hooks import GPU, Installed, installed_cluster

COMMANDS = {
    "srun hostname": ("srun", "hostname"),
    "srun -n 8 hostname": ("srun", "-n", "8", "--overcommit", "hostname"),
    "srun --gres=gpu:1 hostname": ("srun", *GPU, "hostname"),
    "srun hostname, of a job that asks": ("env", "SKYRL_DOCTOR_ENV=runtime", "srun", "hostname"),
    "srun -n 8 hostname, of a job that asks": (
        *("env", "SKYRL_DOCTOR_ENV=runtime"),
        *("srun", "-n", "8", "--overcommit", "hostname"),
    ),
}
EMPTY = dict.fromkeys(("prolog.sh", "taskprolog.sh", "epilog.sh"), "#!/bin/sh\n")


@contextmanager
def empty_scripts(installed: Installed) -> Iterator[None]:
    """The same slurm.conf, whose scripts do nothing."""
    kept = {name: (installed.at / name).read_text() for name in EMPTY}
    try:
        write(installed, EMPTY)
        yield
    finally:
        write(installed, kept)


def write(installed: Installed, scripts: Mapping[str, str]) -> None:
    """Replaces each script as a whole: slurmd cannot start a file that is being written, and then drains the node."""
    for name, text in scripts.items():
        new = installed.at / f"{name}.new"
        new.write_text(text)
        new.chmod(0o755)
        new.replace(installed.at / name)


SETUPS: dict[str, Callable[[Installed], AbstractContextManager[None]]] = {
    "without": Installed.without_hooks,
    "empty": empty_scripts,
    "ours": lambda _: nullcontext(),
}


def took_ms(installed: Installed, words: Sequence[str]) -> float:
    """From an idle cluster: the Epilog of the job before would use the processor too."""
    installed.cluster.clear()
    began = time.monotonic()
    done = installed.cluster.run(*words)
    assert done.returncode == 0, done.stderr
    return 1000 * (time.monotonic() - began)


def measure(installed: Installed, names: Sequence[str], rounds: int, each: int) -> dict[tuple[str, str], float]:
    """The median in ms of each command in each setup."""
    times: dict[tuple[str, str], list[float]] = {pair: [] for pair in product(names, SETUPS)}
    for _ in range(rounds):
        for setup, begin in SETUPS.items():
            with begin(installed):
                for name in each * list(names):
                    times[name, setup].append(took_ms(installed, COMMANDS[name]))
    return {pair: statistics.median(found) for pair, found in times.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", metavar="WORD", help="commands that begin with it")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--each", type=int, default=5, help="calls of a command in each round and setup")
    asked = parser.parse_args()
    names = [name for name in COMMANDS if name.startswith(asked.only)]
    with installed_cluster() as installed:
        found = measure(installed, names, asked.rounds, asked.each)
    print("| command | without | empty | ours | ours : without | ours - empty |\n|---|---|---|---|---|---|")  # noqa: T201 -- a program of the lane
    for name in names:
        without, empty, ours = (found[name, setup] for setup in SETUPS)
        cells = (
            f"{without:.0f} ms",
            f"{empty:.0f} ms",
            f"{ours:.0f} ms",
            f"{ours / without:.2f}",
            f"{ours - empty:.0f} ms",
        )
        print("|", " | ".join((f"`{name}`", *cells)), "|")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
