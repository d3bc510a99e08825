"""Finds the words that a program does not get: a comment, a blank or a missing backslash ended its command before them."""

import re
from collections.abc import Iterator

from skyrl_doctor.core.model import Location
from skyrl_doctor.plan.model import Problem
from skyrl_doctor.plan.source import Source
from skyrl_doctor.plan.syntax.shell import Command, Script

_SETTING = re.compile(r"[+~]{0,2}(?P<key>[A-Za-z_]\w*(?:\.[\w-]+)+)(?:@[\w.]+)?=.*|--(?P<option>[A-Za-z][\w.-]*)(?:=.*)?", re.DOTALL)  # fmt: skip
"""A word that sets a key with a dot, or an option: neither is the name of a command."""
_OVERRIDE = re.compile(r"[+~]{0,2}[A-Za-z_][\w.@/-]*=.*|--[A-Za-z].*", re.DOTALL)
_BLANK_BEHIND = re.compile(r"\\[ \t]+$")


def is_stray(command: Command) -> bool:
    """Whether the command is nothing but settings of another one."""
    return _SETTING.fullmatch(command.name) is not None


def stray_words(script: Script, source: Source, program: str, at: int) -> Iterator[Problem]:
    """A problem for each line of settings after the command of this number, which starts the program."""
    start = script.commands[at]
    lost = {
        (command.file, command.start): command
        for command in script.commands[at + 1 :]
        if command.file == start.file and is_stray(command)
    }
    for (file, line), command in lost.items():
        words = [word.text for word in command.words if _OVERRIDE.fullmatch(word.text)]
        more = len(words) - 1
        others = f" and {more} more setting{'s' if more > 1 else ''}" if more else ""
        why = _end_before("" if file else source.text, line)
        found = _SETTING.fullmatch(words[0])
        yield Problem(
            message=f"{program} does not get {words[0]}{others}: {why} ends the command of line {start.start} before {'them' if more else 'it'}",
            location=Location(file or source.file, line, found and (found["key"] or found["option"])),
        )


def _end_before(text: str, line: int) -> str:
    """What ends the line above a word that stands alone."""
    lines = text.splitlines()
    above = lines[line - 2] if 2 <= line <= len(lines) + 1 else ""
    if _BLANK_BEHIND.search(above):
        return f"line {line - 1} has a blank after its backslash, which"
    if above.lstrip().startswith("#"):
        return f"the comment in line {line - 1}"
    return "a comment or a missing backslash"
