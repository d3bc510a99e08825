"""What both command lines share: parse, import only the module of the command, return an exit status."""

import argparse
import importlib
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import NamedTuple

from skyrl_train.contracts.help import Parser, epilog
from skyrl_train.contracts.printable import one_line
from skyrl_train.contracts.screen import fitted, limit, print_note

USAGE_ERROR = 2
ENDS = (signal.SIGTERM, signal.SIGHUP)


class Program(NamedTuple):
    """A command line. `commands` maps names to summaries; each command is the module of that name in `package`."""

    name: str
    description: str
    version: str
    package: str
    commands: Mapping[str, str]
    bad_input: type[Exception]
    examples: Mapping[str, Sequence[tuple[str, str]]] = {}  # of each command: its words, and what they do
    modules: Mapping[str, str] = {}  # for commands whose module has another name
    prepare: Callable[[argparse.Namespace, Sequence[str]], None] = lambda _args, _words: None  # before the command runs
    clean: Callable[[str], str] = str  # removes secrets from a refusal, which may quote a command line


class Terminated(BaseException):
    """A SIGTERM or SIGHUP as an exception, so that context managers end running commands."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def dispatch(program: Program, words: Sequence[str], **given: object) -> int:
    """Runs a command and returns its exit status. Bad input prints one sentence; status 2. `given` is added to `args`."""
    if not words:
        parser(program, None).print_help()
        return USAGE_ERROR  # a script that lost its words must not pass
    args = parser(program, command_of(program, words), alone=words[0] in program.commands).parse_args(words)
    vars(args).update(given)
    for number in ENDS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup and others ignore it on purpose
            signal.signal(number, _terminate)
    try:
        program.prepare(args, words)
        return int(_module(program, args.command).run(args))
    except program.bad_input as error:
        sentence = one_line(f"{program.name} {args.command}: {program.clean(str(error))}")
        for line in fitted([sentence], limit(sys.stderr)):
            print_note(line)
        return USAGE_ERROR
    except Terminated as end:
        print_note(f"{program.name}: terminated")
        return 128 + end.number
    except KeyboardInterrupt:
        print_note(f"{program.name}: interrupted")
        return 128 + signal.SIGINT


def command_of(program: Program, words: Sequence[str]) -> str | None:
    return next((word for word in words if word in program.commands), None)


def parser(program: Program, command: str | None, *, alone: bool = False) -> Parser:
    """The argument parser. Only the module of `command` is imported, since batch scripts pay for every start.

    With `alone` it knows no other command: each one costs a millisecond.
    """
    made = Parser(prog=program.name, description=program.description)
    made.add_argument("--version", action="version", version=f"{program.name} {program.version}")
    made.epilog = f"`{program.name} COMMAND --help` shows the options and examples of a command."
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND", title="commands")
    for name, summary in program.commands.items():
        if alone and name != command:
            continue
        sub = commands.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        if name == command:
            _module(program, name).arguments(sub)
            examples = program.examples.get(name, ())
            sub.epilog = epilog(program.name, examples, sub.epilog)
            for verb, below in sub.below().items():
                own = [one for one in examples if one[0].split()[:2] == [name, verb]]
                below.epilog = epilog(program.name, own, below.epilog)
    return made


def _module(program: Program, command: str) -> ModuleType:
    return importlib.import_module(f"{program.package}.{program.modules.get(command, command)}")


def _terminate(number: int, _frame: object) -> None:
    for other in ENDS:  # a second signal must not interrupt the cleanup
        signal.signal(other, signal.SIG_IGN)
    raise Terminated(number)
