"""The syntax tree of a shell text, by tree-sitter-bash.

The grammar's scanner asks C's isalnum about code points that it has no table for, and dies of some. So letters beyond
ASCII are hidden from it behind as many x, which bash would read alike: as parts of words.
"""

import re
from typing import Any

_BEYOND = re.compile(rb"[\x80-\xff]")


def parse(data: bytes) -> Any:
    """The root node. Nodes tell the text as it is, hidden letters included."""
    import tree_sitter
    import tree_sitter_bash

    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
    if data.isascii():
        return parser.parse(data).root_node
    return _Node(parser.parse(_BEYOND.sub(b"x", data)).root_node, data)


class _Node:
    """A node of the tree over the hidden text, that tells the real one."""

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
