"""Prints. All output of the commands passes through here or through the streams that `guarded` puts in place.

Names of files, keys, jobs and models come from outside. None of them may control a terminal or add a line.
"""

import contextlib
import os
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any, TextIO, cast

from skyrl_train.contracts.printable import one_line, printable

_WHOLE = re.compile(r"\s*(?:>?\s*\d+ \||\||\$ |#)")
"""Begins what must not be broken: a quoted line with its number, a row of one, a command, a comment of a script."""
_LABEL = re.compile(r"\S{1,12}: {2,}")
NARROWEST, USUAL, WIDEST = 40, 80, 200


class Screen:
    """A stream that escapes what controls a terminal. Everything else is the stream's own."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        self.stream.write(printable(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Escapes what controls a terminal in everything that this process prints."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast("TextIO", Screen(stream)) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def columns(stream: TextIO | None = None) -> int:
    """The width to lay text out for: $COLUMNS, else that of the terminal, else 80 for logs and pipes."""
    return limit(stream) or USUAL


def limit(stream: TextIO | None = None) -> int | None:
    """The width of $COLUMNS or of the terminal; None for logs and pipes, where a line may have any length."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isascii() and asked.isdigit() and len(asked) < 6:
        return max(NARROWEST, min(int(asked), WIDEST))
    try:
        out = sys.stdout if stream is None else stream
        return max(NARROWEST, min(os.get_terminal_size(out.fileno()).columns or USUAL, WIDEST))
    except (OSError, ValueError, AttributeError):  # not a terminal, or closed
        return None


def fitted(lines: Iterable[str], width: int | None) -> Iterator[str]:
    """The lines, the longer ones broken between words. Quoted lines of a log and pasteable ones stay whole."""
    for line in lines:
        if width is None or len(line) <= width or _WHOLE.match(line):
            yield line
        else:
            yield from textwrap.wrap(
                line,
                width,
                subsequent_indent=" " * _hanging(line),
                break_long_words=False,
                break_on_hyphens=False,
                replace_whitespace=False,
                drop_whitespace=True,
            )


def _hanging(line: str) -> int:
    """Columns before the later parts of a broken line: below its value if it has a label, else two more than before."""
    label = _LABEL.match(line)
    return len(label[0]) if label else len(line) - len(line.lstrip()) + 2


def print_line(text: str) -> None:
    sys.stdout.write(f"{one_line(text)}\n")


def print_lines(lines: Iterable[str]) -> None:
    sys.stdout.write("".join(f"{one_line(line)}\n" for line in lines))


def print_note(text: str) -> None:
    """Prints a line on stderr."""
    sys.stderr.write(f"{one_line(text)}\n")


def print_exact(text: str) -> None:
    """Prints what a program reads, such as a diff, unchanged, unless a person reads it on a terminal."""
    out = sys.stdout if sys.stdout.isatty() else unguarded(sys.stdout)
    out.write(text)


def unguarded(stream: TextIO) -> TextIO:
    """The stream itself, for output that needs colours. The caller must have made its text printable."""
    return stream.stream if isinstance(stream, Screen) else stream
