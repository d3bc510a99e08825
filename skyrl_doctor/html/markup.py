"""Builds HTML. Every text is escaped here, in one place; only what `tag` made is HTML.

Texts come from logs, configurations and models, and may hold anything.
"""

import html
from collections.abc import Iterable

from skyrl_doctor.report.plain import encodable, plain

_EMPTY = frozenset({"meta", "br", "rect", "path", "line", "polyline", "circle", "col"})
"""Elements without content."""
MOST_LETTERS = 4000
"""The longest text that is quoted in full."""


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


Child = str | Iterable[str] | None


def tag(name: str, /, *children: Child, **attributes: object) -> Html:
    """An element. Children that are not Html are escaped; an attribute that is None is left out; `class_` is class."""
    words = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_escaped(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _EMPTY:
        return Html(f"<{name}{words}>" if name in ("meta", "br", "col") else f"<{name}{words}/>")
    return Html(f"<{name}{words}>{join(*children)}</{name}>")


def join(*children: Child) -> Html:
    """The children one after the other."""
    return Html("".join(part for child in children for part in _parts(child)))


def clipped(text: str, most: int = MOST_LETTERS) -> str:
    """The text, or its begin and end with a notice of what was left out."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]} [… {len(text) - 2 * half} characters left out …] {text[-half:]}"


def prose(text: str) -> Html:
    """A text in which backquotes mark code."""
    return join(tag("code", part) if number % 2 else part for number, part in enumerate(clipped(text).split("`")))


def _parts(child: Child) -> Iterable[str]:
    if child is None:
        return ()
    if isinstance(child, Html):
        return (child,)
    if isinstance(child, str):
        return (_escaped(clipped(child)),)
    return (part for one in child for part in _parts(one))


def _escaped(text: str) -> str:
    return html.escape(encodable(plain(text)), quote=True)
