"""Parses the command line and hands over to the command's own module, imported when it is asked for."""

import argparse
import importlib
import signal
import sys
import time
from collections.abc import Sequence

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.version import VERSION

COMMANDS = {
    "preflight": "look at this machine and this configuration, and say whether a run will fail",
    "gate": "preflight, then run a command; refuse with exit status 78",
    "diagnose": "name the true cause out of a job's logs",
    "list": "the known failures that have a check",
    "explain": "what a failure is, why it breaks training and how to fix it",
    "env": "print the settings that this node needs, for eval or for a Slurm TaskProlog",
    "fix": "show what would cure the findings; --apply does what is safe",
    "record": "write what the probes see into a directory, without secrets",
}
USAGE_ERROR = 2
_ENDS = (signal.SIGTERM, signal.SIGHUP)


class Terminated(BaseException):
    """A signal to end, as an exception: commands in flight are ended on the way out."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def _terminate(number: int, _frame: object) -> None:
    for other in _ENDS:  # a second one must not cut the way out short
        signal.signal(other, signal.SIG_IGN)
    raise Terminated(number)


def dispatch(argv: Sequence[str], *, age_s: float = 0.0) -> int:
    """Runs a command; its exit status. Bad input is one sentence and status 2. `age_s`: how long the caller waits already."""
    started = time.monotonic() - age_s
    words, rest = _split(argv)
    args = _parser(_command_of(words)).parse_args(words)
    args.rest = rest
    args.started = started
    for number in _ENDS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup, and whoever else wants it so
            signal.signal(number, _terminate)
    try:
        return int(importlib.import_module(f"skyrl_doctor.cli.{_module(args.command)}").run(args))
    except UsageError as error:
        sys.stderr.write(f"skyrl-doctor {args.command}: {error}\n")
        return USAGE_ERROR
    except Terminated as end:
        sys.stderr.write("skyrl-doctor: terminated\n")
        return 128 + end.number
    except KeyboardInterrupt:
        sys.stderr.write("skyrl-doctor: interrupted\n")
        return 128 + signal.SIGINT


def _split(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """What stands after gate's first `--` is a command of the caller's; elsewhere it ends the options, as in any tool."""
    words = list(argv)
    if "--" not in words or _command_of(words) != "gate":
        return words, []
    at = words.index("--")
    return words[:at], words[at + 1 :]


def _command_of(argv: Sequence[str]) -> str | None:
    return next((word for word in argv if word in COMMANDS), None)


def _parser(command: str | None) -> argparse.ArgumentParser:
    """Only the asked command's module is imported: start-up is what the sbatch prologue pays for."""
    parser = argparse.ArgumentParser(
        prog="skyrl-doctor",
        description="Will this agent RL run fail? Checks before, during and after a job.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"skyrl-doctor {VERSION}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, summary in COMMANDS.items():
        sub = commands.add_parser(
            name, help=summary, description=summary[0].upper() + summary[1:] + ".", allow_abbrev=False
        )
        if name == command:
            importlib.import_module(f"skyrl_doctor.cli.{_module(name)}").arguments(sub)
    return parser


def _module(command: str) -> str:
    return "listing" if command == "list" else command
