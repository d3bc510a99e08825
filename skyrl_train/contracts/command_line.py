"""What both command lines share: parse, import the asked command's module alone, end with an exit status."""

import argparse
import importlib
import signal
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import NamedTuple

USAGE_ERROR = 2
ENDS = (signal.SIGTERM, signal.SIGHUP)


class Program(NamedTuple):
    """A command line: `commands` are names with a summary, each a module of `package` of the same name."""

    name: str
    description: str
    version: str
    package: str
    commands: Mapping[str, str]
    bad_input: type[Exception]
    modules: Mapping[str, str] = {}  # where a command's module cannot have its name


class Terminated(BaseException):
    """A signal to end, as an exception: commands in flight are ended on the way out."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def dispatch(program: Program, words: Sequence[str], **given: object) -> int:
    """Runs a command; its exit status. Bad input is one sentence and status 2. `given` goes to the command's `args`."""
    args = parser(program, command_of(program, words)).parse_args(words)
    vars(args).update(given)
    for number in ENDS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup, and whoever else wants it so
            signal.signal(number, _terminate)
    try:
        return int(_module(program, args.command).run(args))
    except program.bad_input as error:
        sys.stderr.write(f"{program.name} {args.command}: {error}\n")
        return USAGE_ERROR
    except Terminated as end:
        sys.stderr.write(f"{program.name}: terminated\n")
        return 128 + end.number
    except KeyboardInterrupt:
        sys.stderr.write(f"{program.name}: interrupted\n")
        return 128 + signal.SIGINT


def command_of(program: Program, words: Sequence[str]) -> str | None:
    return next((word for word in words if word in program.commands), None)


def parser(program: Program, command: str | None) -> argparse.ArgumentParser:
    """Only the asked command's module is imported: start-up is what the sbatch prologue pays for."""
    made = argparse.ArgumentParser(prog=program.name, description=program.description, allow_abbrev=False)
    made.add_argument("--version", action="version", version=f"{program.name} {program.version}")
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, summary in program.commands.items():
        sub = commands.add_parser(
            name, help=summary, description=summary[0].upper() + summary[1:] + ".", allow_abbrev=False
        )
        if name == command:
            _module(program, name).arguments(sub)
    return made


def _module(program: Program, command: str) -> ModuleType:
    return importlib.import_module(f"{program.package}.{program.modules.get(command, command)}")


def _terminate(number: int, _frame: object) -> None:
    for other in ENDS:  # a second one must not cut the way out short
        signal.signal(other, signal.SIG_IGN)
    raise Terminated(number)
