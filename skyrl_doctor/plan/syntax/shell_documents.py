"""Here-documents: the text between `<<END` and END, who reads it, and the file that `cat > FILE <<END` writes."""

import re
from collections.abc import Iterator
from typing import Any

from skyrl_doctor.core.record import record
from skyrl_doctor.plan.syntax.shell_tree import Text
from skyrl_doctor.plan.syntax.shell_values import Word, known
from skyrl_doctor.plan.syntax.shell_words import Expander

_TABS = re.compile(r"^\t+", re.MULTILINE)
COPIES = ("cat", "tee")
"""Commands that write what they read."""


@record
class Document:
    """The text as a word at its place, the files that it is written to, and the statements on the line of `<<END`."""

    word: Word
    files: tuple[Word, ...]
    readers: tuple[Any, ...] = ()
    """The commands behind a bar, which read what the first one writes."""
    others: tuple[Any, ...] = ()
    """The commands behind `&&` and the like."""


def document_of(node: Any, text: Text, expander: Expander) -> Document | None:
    """The here-document of a redirected statement; None if it has none."""
    redirects = [child for child in node.children if child.type == "heredoc_redirect"]
    if not redirects:
        return None
    parts = redirects[-1].children
    body = next((part for part in parts if part.type == "heredoc_body"), None)
    start = next((part for part in parts if part.type == "heredoc_start"), None)
    if body is None or start is None:
        return None
    written = text.of(body)
    if parts[0].type == "<<-":
        written = _TABS.sub("", written)
    is_plain = any(letter in text.of(start) for letter in "'\"\\")
    value = known(written) if is_plain else expander.document(written)
    word = Word(value, text.line(body), (body.start_byte, body.end_byte), text.file)
    readers = [command for part in parts if part.type == "pipeline" for command in part.named_children]
    others = [part for part in parts if part.type in ("command", "list", "redirected_statement")]
    files = tuple(_files([*node.children, *parts], text, expander))
    return Document(word, files, tuple(readers), tuple(others))


def _files(nodes: list[Any], text: Text, expander: Expander) -> Iterator[Word]:
    """The files behind `>`."""
    for node in nodes:
        target = node.children[-1] if node.type == "file_redirect" and len(node.children) == 2 else None
        if target is not None and node.children[0].type in (">", ">|"):
            yield from expander.words(text.of(target), text.line(target), (target.start_byte, target.end_byte))
