"""The commands of skyrl-doctor."""

import time
from collections.abc import Sequence

from skyrl_doctor.core.errors import UsageError
from skyrl_train.contracts.command_line import Program, command_of
from skyrl_train.contracts.command_line import dispatch as run
from skyrl_train.contracts.version import VERSION

COMMANDS = {
    "preflight": "look at this machine and this configuration, and say whether a run will fail",
    "gate": "preflight, then run a command; refuse with exit status 78",
    "budget": "how much of its GPU a run takes in each phase, whether that fits, and what would help",
    "diagnose": "name the true cause out of a job's logs",
    "watch": "follow a job while it runs: stalls, causes, memory, time; report, stop or hold",
    "list": "the known failures that have a check",
    "explain": "what a failure is, why it breaks training and how to fix it",
    "env": "print the settings that this node needs, for eval or for a Slurm TaskProlog",
    "fix": "show what would cure the findings; --apply does what is safe",
    "record": "write what the probes see into a directory, without secrets",
}
SKYRL_DOCTOR = Program(
    name="skyrl-doctor",
    description="Will this agent RL run fail? Checks before, during and after a job.",
    version=VERSION,
    package="skyrl_doctor.cli",
    commands=COMMANDS,
    bad_input=UsageError,
    modules={"list": "listing"},
)


def dispatch(argv: Sequence[str], *, age_s: float = 0.0) -> int:
    """Runs a command; its exit status. `age_s`: how long the caller waits already."""
    started = time.monotonic() - age_s
    words, rest = _split(argv)
    return run(SKYRL_DOCTOR, words, rest=rest, started=started)


def _split(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """What stands after gate's first `--` is a command of the caller's; elsewhere it ends the options, as in any tool."""
    words = list(argv)
    if "--" not in words or command_of(SKYRL_DOCTOR, words) != "gate":
        return words, []
    at = words.index("--")
    return words[:at], words[at + 1 :]
