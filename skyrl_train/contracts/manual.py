"""The man pages of a command line: one for the program and one for each command, from the parsers of --help."""

import os
import re
from collections.abc import Iterator

from skyrl_train.contracts.command_line import Program, parser
from skyrl_train.contracts.files import write_whole
from skyrl_train.contracts.help import Parser

_HIDDEN = re.compile(r"internal:")


def pages(program: Program) -> dict[str, str]:
    """The text of each page by its file name."""
    shown = [name for name, summary in program.commands.items() if not _HIDDEN.match(summary)]
    made = {f"{program.name}.1": _page(program, program.name, program.description, _program_body(program, shown))}
    for name in shown:
        title = f"{program.name}-{name}"
        made[f"{title}.1"] = _page(program, title, program.commands[name], _command_body(program, name))
    return made


def write(program: Program, directory: str) -> int:
    """Writes the pages into the section of commands of a directory of manuals. Returns their number."""
    section = os.path.join(directory, "man1")
    made = pages(program)
    try:
        os.makedirs(section, exist_ok=True)
        for name, text in made.items():
            write_whole(os.path.join(section, name), text, durable=False)
    except OSError as error:
        raise program.bad_input(f"cannot write the manual into {section}: {error.strerror}") from None
    return len(made)


def _page(program: Program, title: str, summary: str, body: Iterator[str]) -> str:
    name = summary[0].lower() + summary[1:].rstrip(".")
    head = [
        f'.TH {title.upper()} 1 "" "{program.name} {program.version}"',
        ".SH NAME",
        f"{_text(title)} \\- {_text(name)}",
    ]
    return "\n".join([*head, *body]) + "\n"


def _program_body(program: Program, shown: list[str]) -> Iterator[str]:
    yield from (".SH SYNOPSIS", f".B {_text(program.name)}", "COMMAND [options]")
    yield from (".SH DESCRIPTION", _text(program.description), ".SH COMMANDS")
    for name in shown:
        yield from (".TP", f".BR {_text(f'{program.name}-{name}')} (1)", _text(program.commands[name]))


def _command_body(program: Program, name: str) -> Iterator[str]:
    made = parser(program, name).below()[name]
    yield ".SH SYNOPSIS"
    yield _text(" ".join(made.format_usage().removeprefix("usage: ").split()))
    yield from (".SH DESCRIPTION", _text(made.description or ""))
    yield ".SH OPTIONS"
    yield from _entries(made)
    for sub, below in made.below().items():
        yield f'.SS "{program.name} {name} {sub}"'
        yield from _entries(below)
    if examples := program.examples.get(name):
        yield ".SH EXAMPLES"
        for words, why in examples:
            yield from (".TP", f".B {_text(f'{program.name} {words}')}", _text(why))
    notes = (made.epilog or "").rpartition("\n\n")[2]
    if notes and not notes.startswith("examples:"):
        yield from (".SH NOTES", _text(notes))
    yield from (".SH SEE ALSO", f".BR {_text(program.name)} (1)")


def _entries(made: Parser) -> Iterator[str]:
    for written, help_ in made.entries():
        yield from (".TP", f".B {_text(written)}", _text(help_))


def _text(text: str) -> str:
    """Text for roff: backslashes and hyphens as they are, and no line that begins as a request."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    escaped = re.sub(r"[^\x00-\x7f]", lambda found: f"\\[u{ord(found[0]):04X}]", escaped)
    return re.sub(r"^([.'])", r"\\&\1", escaped, flags=re.MULTILINE)
