"""The commands of skyrl-train."""

from collections.abc import Sequence

from skyrl_train.contracts.command_line import Program
from skyrl_train.contracts.command_line import dispatch as run
from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.version import VERSION

COMMANDS: dict[str, str] = {
    "launch": "submit two Slurm jobs from one configuration, or run them here",
    "train": "what the trainer job runs: verl's trainer with our agent, watched",
    "status": "how a launch stands: jobs, gates, runtime, checkpoint, and what the doctor thinks",
    "stop": "end both jobs of a launch",
    "job": "what a batch script runs; launch writes those",
    "sweep": "take away what a job that is over left on this node; for an Epilog",
    "runtime": "the sandbox runtime: hand out containers over the remote runtime API",
    "images": "which images a run needs, and the others fetched or built ahead",
    "data": "data sets for training: convert, inspect, validate, and try their rewards",
    "checkpoints": "what is on the disk, whether it can be resumed from, what may go, and a model made of one",
    "show": "print a rollout's transcript for a person",
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
