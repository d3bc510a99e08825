"""The commands of skyrl-train."""

from collections.abc import Sequence

from skyrl_train.cli.frame import Program
from skyrl_train.cli.frame import dispatch as run
from skyrl_train.fail import UsageError
from skyrl_train.version import VERSION

COMMANDS: dict[str, str] = {
    "images": "which images a run needs, and the others fetched or built ahead",
    "demo": "three small tasks from prompt to reward on this machine",
}
SKYRL_TRAIN = Program(
    name="skyrl-train",
    description="Train LLM agents with RL on a Slurm cluster: two jobs from one configuration.",
    version=VERSION,
    package="skyrl_train.cli",
    commands=COMMANDS,
    bad_input=UsageError,
)


def dispatch(words: Sequence[str]) -> int:
    return run(SKYRL_TRAIN, words)
