"""Parses the command line and hands over to the command's own module, imported when it is asked for."""

import argparse
import contextlib
import importlib
import os
import signal
import sys
from collections.abc import Sequence

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.version import VERSION

COMMANDS = {
    "preflight": "look at this machine and this configuration, and say whether a run will fail",
    "gate": "preflight, then run a command; refuse with exit status 78",
    "list": "the known failures that have a check",
    "explain": "what a failure is, why it breaks training and how to fix it",
    "env": "print the settings that this node needs, for eval or for a Slurm TaskProlog",
    "fix": "show what would cure the findings; --apply does what is safe",
    "record": "write what the probes see into a directory, without secrets",
}
USAGE_ERROR = 2


class Terminated(BaseException):
    """SIGTERM, as an exception: commands in flight are ended on the way out."""


def _terminate(_number: int, _frame: object) -> None:
    raise Terminated


def dispatch(argv: Sequence[str]) -> int:
    """Runs a command; its exit status. Bad input is one sentence and status 2."""
    words, rest = _split(argv)
    args = _parser(_command_of(words)).parse_args(words)
    args.rest = rest
    signal.signal(signal.SIGTERM, _terminate)
    try:
        return int(importlib.import_module(f"skyrl_doctor.cli.{_module(args.command)}").run(args))
    except UsageError as error:
        sys.stderr.write(f"skyrl-doctor {args.command}: {error}\n")
        return USAGE_ERROR
    except Terminated:
        sys.stderr.write("skyrl-doctor: terminated\n")
        return 128 + signal.SIGTERM
    except KeyboardInterrupt:
        sys.stderr.write("skyrl-doctor: interrupted\n")
        return 128 + signal.SIGINT
    except BrokenPipeError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE


def _split(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """What stands after the first `--` is a command of the caller's."""
    words = list(argv)
    if "--" not in words:
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
