"""Parses a shell script into a syntax tree with tree-sitter-bash.

The grammar's scanner calls C's isalnum with code points outside of its table and crashes on some. So each non-ASCII byte
is replaced by an x for parsing; bash reads both as parts of words.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_NON_ASCII = re.compile(rb"[\x80-\xff]")


def parse(data: bytes) -> Any:
    """The root node. The text of the nodes is the original text."""
    import tree_sitter
    import tree_sitter_bash

    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
    if data.isascii():
        return parser.parse(data).root_node
    return _Node(parser.parse(_NON_ASCII.sub(b"x", data)).root_node, data)


class _Node:
    """A node of the tree over the ASCII text that returns the original text."""

    __slots__ = ("_data", "_node")

    def __init__(self, node: Any, data: bytes) -> None:
        self._node = node
        self._data = data

    @property
    def text(self) -> bytes:
        return self._data[self._node.start_byte : self._node.end_byte]

    @property
    def children(self) -> list["_Node"]:
        return [_Node(child, self._data) for child in self._node.children]

    @property
    def named_children(self) -> list["_Node"]:
        return [_Node(child, self._data) for child in self._node.named_children]

    def child_by_field_name(self, name: str) -> "_Node | None":
        found = self._node.child_by_field_name(name)
        return None if found is None else _Node(found, self._data)

    def __getattr__(self, name: str) -> Any:
        """type, start_byte, end_byte, start_point, is_named, has_error"""
        return getattr(self._node, name)


@dataclass(frozen=True, slots=True)
class Text:
    """The bytes that nodes belong to. `file` is empty for the script itself; `shift` is added to each line."""

    data: bytes
    file: str
    shift: int = 0

    def of(self, node: Any) -> str:
        return self.between(node.start_byte, node.end_byte)

    def between(self, start: int, end: int) -> str:
        return self.data[start:end].decode("utf-8", "replace")

    def of_all(self) -> str:
        return self.between(0, len(self.data))

    def line(self, node: Any) -> int:
        return int(node.start_point[0]) + 1 + self.shift

    def has_line_end(self, start: int, end: int) -> bool:
        """Whether a line ends between these places; a backslash before it joins the lines."""
        return b"\n" in self.data[start:end].replace(b"\\\n", b"")

    def joined(self, nodes: Sequence[Any]) -> Iterator[tuple[str, int, tuple[int, int]]]:
        """Text, line and span of each word. Nodes without a blank between them are one word."""
        at = 0
        while at < len(nodes):
            first = last = nodes[at]
            at += 1
            while at < len(nodes) and nodes[at].start_byte == last.end_byte:
                last = nodes[at]
                at += 1
            span = (first.start_byte, last.end_byte)
            yield self.between(*span), self.line(first), span
