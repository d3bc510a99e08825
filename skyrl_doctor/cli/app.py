"""The commands of skyrl-doctor."""

import argparse
import time
from collections.abc import Sequence

from skyrl_doctor.cli.examples import EXAMPLES
from skyrl_doctor.core.errors import UsageError
from skyrl_train.contracts.command_line import Program, command_of
from skyrl_train.contracts.command_line import dispatch as run
from skyrl_train.contracts.version import VERSION

COMMANDS = {
    "preflight": "check this machine and this configuration before a run",
    "gate": "run the preflight checks, then start CMD; exit with status 78 if they refuse",
    "budget": "estimate the GPU memory that a run needs in each phase, and what reduces it",
    "diagnose": "find the root cause of a failed job in its logs",
    "report": "write one HTML page about a job, a preflight or a diagnosis",
    "watch": "follow a running job and report its failures; stop or hold it on request",
    "list": "list the known failures and what finds them",
    "explain": "explain a failure: why it breaks training and how to fix it",
    "env": "print the variables that this node needs, for eval or for a Slurm TaskProlog",
    "fix": "show how to fix the findings; --apply edits the configuration and creates directories",
    "site-check": "check a site's installation of the Slurm scripts, with one job of each kind",
    "record": "record what the probes read from this machine, without secrets",
    "read": "print how the doctor reads a configuration: each setting, its value and its place",
    "completion": "print the shell's script that completes commands, options and failures",
    "manual": "write the man pages",
}


def _without_secrets(text: str) -> str:
    import os

    from skyrl_doctor.machine.redact import Redactor  # only a refusal needs it

    return Redactor.of(os.environ)(text)


def _with_settings(args: argparse.Namespace, words: Sequence[str]) -> None:
    if hasattr(args, "settings"):  # only commands that examine a machine read the file
        from skyrl_doctor.cli import settings

        settings.apply(args, words)


SKYRL_DOCTOR = Program(
    name="skyrl-doctor",
    description="Checks agent RL training before, during and after a job.",
    version=VERSION,
    package="skyrl_doctor.cli",
    commands=COMMANDS,
    bad_input=UsageError,
    examples=EXAMPLES,
    modules={"list": "listing", "site-check": "site_check"},
    prepare=_with_settings,
    clean=_without_secrets,
)


def dispatch(argv: Sequence[str], *, age_s: float = 0.0) -> int:
    """Runs a command and returns its exit status. `age_s` is the time that the caller has waited so far."""
    started = time.monotonic() - age_s
    words, rest = _split(argv)
    return run(SKYRL_DOCTOR, words, rest=rest, started=started)


def _split(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Splits off the command after gate's first `--`. For the other commands `--` ends the options, as usual."""
    words = list(argv)
    if "--" not in words or command_of(SKYRL_DOCTOR, words) != "gate":
        return words, []
    at = words.index("--")
    return words[:at], words[at + 1 :]
