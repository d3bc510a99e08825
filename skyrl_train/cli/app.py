"""The commands of skyrl-train."""

from collections.abc import Sequence

from skyrl_train.cli.examples import EXAMPLES
from skyrl_train.contracts.command_line import Program
from skyrl_train.contracts.command_line import dispatch as run
from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.version import VERSION

COMMANDS: dict[str, str] = {
    "launch": "submit two Slurm jobs from one configuration, or run both on this machine",
    "train": "run and watch verl's trainer with our agent; the trainer job calls this",
    "status": "show the state of a launch: jobs, gates, runtime, checkpoint and the doctor's findings",
    "stop": "stop both jobs of a launch",
    "job": "internal: the batch scripts of `launch` call this",
    "sweep": "remove what a finished job left on this node; for an Epilog script",
    "runtime": "run the sandbox runtime, which starts containers on request over the remote runtime API",
    "images": "list the images that a run needs; pull or build the missing ones",
    "data": "convert, inspect and validate training data, and test its rewards",
    "checkpoints": "list, verify, prune and merge checkpoints",
    "evaluate": "measure pass@1 and pass@k of a model or checkpoint on tasks",
    "weights": "find out which model or checkpoint a model server runs",
    "show": "list rollouts or print the transcript of one",
    "view": "show the rollouts of a job in a browser, also while it runs",
    "demo": "run three small tasks from prompt to reward on this machine",
    "config": "explain the settings of a run; print their defaults or their JSON Schema",
    "init": "write a commented run.toml, from another framework's configuration or from three answers",
    "completion": "print the shell's script that completes commands and options",
    "manual": "write the man pages",
}
SKYRL_TRAIN = Program(
    name="skyrl-train",
    description="Train LLM agents with RL on a Slurm cluster: two jobs from one configuration.",
    version=VERSION,
    package="skyrl_train.cli",
    commands=COMMANDS,
    bad_input=UsageError,
    examples=EXAMPLES,
)


def dispatch(words: Sequence[str]) -> int:
    return run(SKYRL_TRAIN, words)
