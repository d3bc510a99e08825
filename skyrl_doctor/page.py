"""Parses a check's page: its module docstring with a summary and four sections."""

import re
import textwrap
from collections.abc import Iterator

from skyrl_doctor.core.record import record

HEADINGS = ("What it does", "Why it breaks training", "How to fix", "Example")
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_ITEM = re.compile(r"(?:[-*]|[0-9]+\.) ")


@record
class Page:
    """`sections` are pairs of heading and Markdown text."""

    summary: str
    sections: tuple[tuple[str, str], ...]

    @property
    def headings(self) -> tuple[str, ...]:
        return tuple(heading for heading, _ in self.sections)


def parse(docstring: str) -> Page:
    """Parses a docstring. Without headings all of it is the summary."""
    summary, *parts = _HEADING.split(docstring.strip())
    headings = [heading.strip() for heading in parts[::2]]
    bodies = [body.strip("\n").rstrip() for body in parts[1::2]]
    return Page(" ".join(summary.split()), tuple(zip(headings, bodies, strict=True)))


def wrapped(markdown: str, width: int) -> Iterator[str]:
    """Wraps paragraphs and list items to `width`; indented code stays as it is."""
    for block in re.split(r"\n[ \t]*\n", markdown):
        for kind, text in _pieces(block):
            if kind == "code":
                yield text
            else:
                hang = " " * len(match[0]) if (match := _ITEM.match(text)) else ""
                yield from textwrap.wrap(
                    text, width, subsequent_indent=hang, break_long_words=False, break_on_hyphens=False
                )
        yield ""


def _pieces(block: str) -> Iterator[tuple[str, str]]:
    """The paragraphs, list items and lines of code of a block."""
    paragraph: list[str] = []
    for line in block.split("\n"):
        is_code = line.startswith("    ") and not paragraph
        if paragraph and (is_code or _ITEM.match(line)):
            yield "text", " ".join(paragraph)
            paragraph = []
        if is_code:
            yield "code", line
        elif line.strip():
            paragraph.append(line.strip())
    if paragraph:
        yield "text", " ".join(paragraph)
