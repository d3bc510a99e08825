"""The argument parser of both command lines: short usage, help that breaks between words, and did-you-mean."""

import argparse
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from skyrl_train.contracts.screen import columns, print_note

Commands = argparse._SubParsersAction  # noqa: SLF001 -- argparse has no other name for it
_INVALID_CHOICE = re.compile(r"invalid choice: '(?P<word>[^']*)' \(choose from (?P<choices>.*)\)")
_CHOICE = re.compile(r"[^\s',]+")


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Help for a screen of any width. Words are never cut; an indented line of the epilog stays one line."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26, width=columns() - 2)

    def add_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[Any],
        prefix: str | None = None,
    ) -> None:
        """One short line: the list of options follows it anyway."""
        super().add_usage(usage or self._short_usage(list(actions)), actions, groups, prefix)

    def _short_usage(self, actions: list[argparse.Action]) -> str:
        options = [action for action in actions if action.option_strings]
        required = [
            f"{option.option_strings[-1]} {self._format_args(option, option.dest.upper())}"
            for option in options
            if option.required
        ]
        places = [
            self._format_args(action, self._get_default_metavar_for_positional(action))
            for action in actions
            if not action.option_strings
        ]
        words = (["[options]"] if len(required) < len(options) else []) + required + places
        line = " ".join([self._prog, *words]).replace(" ...", " …")
        room = columns() - len("usage: ")
        return "\n  ".join(_wrapped(line, room)).replace("%", "%%")

    def entry(self, action: argparse.Action) -> tuple[str, str]:
        """How an option or argument is written, and its help."""
        return self._format_action_invocation(action), self._expand_help(action) if action.help else ""

    def _format_action(self, action: argparse.Action) -> str:
        if isinstance(action, Commands):
            commands = list(self._iter_indented_subactions(action))  # read to the end, so that none is indented
            return "".join(map(super()._format_action, commands))
        return super()._format_action(action)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return _wrapped(" ".join(text.split()), width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = (
            [line] if line.startswith(" ") else _wrapped(line, width - len(indent)) or [""] for line in text.split("\n")
        )
        return "\n".join(f"{indent}{part}".rstrip() for parts in lines for part in parts)


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, max(width, 20), break_long_words=False, break_on_hyphens=False)


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors name what was probably meant."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**{"allow_abbrev": False, "formatter_class": Formatter, **given})

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override] # argparse has overloads
        found, unknown = self.parse_known_args(args, namespace)
        if unknown:
            parser = self.of_command(found)
            meant = _meant(unknown[0].partition("=")[0], parser.options())
            parser.error(f"unrecognized arguments: {' '.join(unknown)}{meant}")
        return found

    def of_command(self, found: argparse.Namespace) -> "Parser":
        """The parser of the command that was given, or this one."""
        for action in self._actions:
            name = getattr(found, action.dest, None) if isinstance(action, Commands) else None
            if isinstance(name, str) and name in self.below():
                return self.below()[name].of_command(found)
        return self

    def options(self) -> Iterator[str]:
        """The options of this parser and of the parsers below it."""
        for parser in self.tree():
            for action in parser.shown():
                yield from action.option_strings

    def shown(self) -> list[argparse.Action]:
        """The options and arguments that the help shows."""
        return [action for action in self._actions if action.help is not argparse.SUPPRESS]

    def below(self) -> Mapping[str, "Parser"]:
        """The parsers of the commands, by name."""
        return {
            name: found
            for action in self._actions
            if isinstance(action, Commands)
            for name, found in action.choices.items()
        }

    def tree(self) -> Iterator["Parser"]:
        """This parser and all that are below it."""
        yield self
        for parser in self.below().values():
            yield from parser.tree()

    def entries(self) -> list[tuple[str, str]]:
        """The options and arguments as they are written, each with its help."""
        formatter = Formatter(self.prog)
        return [formatter.entry(action) for action in self.shown() if not isinstance(action, Commands)]

    def error(self, message: str) -> NoReturn:
        found = _INVALID_CHOICE.search(message)
        if found and message.startswith("argument COMMAND:"):
            message = f"unknown command {found['word']!r}"
        meant = _meant(found["word"], _CHOICE.findall(found["choices"])) if found else ""
        print_note(f"{self.prog}: error: {message}{meant}")
        print_note(f"`{self.prog} --help` lists the options and shows examples")
        sys.exit(2)


def _meant(word: str, known: Iterable[str]) -> str:
    import difflib  # only a mistyped word needs it

    close = difflib.get_close_matches(word, sorted(set(known)), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def epilog(name: str, examples: Sequence[tuple[str, str]], rest: str | None) -> str:
    """The end of a command's help: its examples, each below the sentence that says what it does, then the rest."""
    shown = [f"{why}:\n  {name} {words}".rstrip() for words, why in examples]
    return "\n\n".join([*(["examples:\n" + "\n".join(shown)] if shown else []), *([rest] if rest else [])])
