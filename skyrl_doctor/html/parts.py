"""The small parts of which the sections are made."""

from collections.abc import Iterable, Sequence

from skyrl_doctor.core.record import record
from skyrl_doctor.html.markup import Child, Html, tag


@record
class Section:
    """A section of the page. One without content is left out."""

    id: str
    title: str
    content: Html


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[Child]], *, numbers: Sequence[int] = ()) -> Html:
    """A table with a caption and heads. `numbers` are the columns that hold numbers."""
    body = [
        tag("tr", [tag("td", cell, class_="n" if place in numbers else None) for place, cell in enumerate(row)])
        for row in rows
    ]
    head = [tag("th", name, scope="col", class_="n" if place in numbers else None) for place, name in enumerate(heads)]
    inner = tag("table", tag("caption", caption), tag("thead", tag("tr", head)), tag("tbody", body))
    return tag("div", inner, class_="scroll", tabindex="0", role="region", aria_label=caption)


def facts(pairs: Iterable[tuple[str, Child]]) -> Html:
    """Names and values."""
    return tag("dl", [tag("div", tag("dt", name), tag("dd", value)) for name, value in pairs])


def folded(summary: str, *content: Child) -> Html:
    """Content that opens on request."""
    return tag("details", tag("summary", summary), *content)


def badge(word: str, style: str) -> Html:
    return tag("strong", word, class_=f"badge {style}")


def plural(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
