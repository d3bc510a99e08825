"""The arms of `if` and `case`, and whether an arm ends the script."""

from collections.abc import Sequence
from typing import Any

from skyrl_doctor.core.record import record
from skyrl_doctor.plan.syntax.shell_quotes import UnclosedError, end_of_double_quotes
from skyrl_doctor.plan.syntax.shell_tree import Text

_ENDS = ("exit", "return")
_TRANSPARENT = ("list", "compound_statement", "redirected_statement", "command", "else_clause", "do_group")


@record
class Arm:
    """One arm: its conditions or patterns, and its statements. An `else` and a `*)` are defaults."""

    body: tuple[Any, ...]
    conditions: tuple[Any, ...] = ()
    patterns: tuple[str, ...] = ()
    is_default: bool = False


def arms_of_if(node: Any) -> list[Arm]:
    """The arms of an if statement, with those of elif and else."""
    found = [_arm(node.children)]
    for child in node.children:
        if child.type == "elif_clause":
            found.append(_arm(child.children))
        elif child.type == "else_clause":
            found.append(Arm(tuple(child.children[1:]), is_default=True))
    return found


def arms_of_case(node: Any, text: Text) -> list[Arm]:
    """The arms of a case statement."""
    return [_item(child, text) for child in node.children if child.type == "case_item"]


def exits(nodes: Sequence[Any], text: Text) -> bool:
    """Whether these statements end the script or the function, unless a branch inside decides it."""
    for node in nodes:
        if node.type == "command" and text.of(node).split()[:1] and text.of(node).split()[0] in _ENDS:
            return True
        if node.type in _TRANSPARENT and node.type != "command" and exits(node.children, text):
            return True
    return False


def negated(value: bool | None) -> bool | None:  # noqa: FBT001 - a truth value is its argument
    return None if value is None else not value


def _arm(children: Sequence[Any]) -> Arm:
    then = next((at for at, child in enumerate(children) if child.type == "then"), len(children))
    body = [child for child in children[then + 1 :] if child.type not in ("elif_clause", "else_clause", "fi")]
    return Arm(tuple(body), conditions=tuple(children[1:then]))


def _item(node: Any, text: Text) -> Arm:
    closing = next((at for at, child in enumerate(node.children) if child.type == ")"), 0)
    start = node.children[0].end_byte if node.children[0].type == "(" else node.start_byte
    patterns = _patterns(text.between(start, node.children[closing].start_byte))
    return Arm(tuple(node.children[closing + 1 :]), patterns=patterns, is_default=patterns == ("*",))


def _patterns(text: str) -> tuple[str, ...]:
    """The patterns between the bars."""
    found, start, at = [], 0, 0
    while at < len(text):
        if text[at] == "|":
            found.append(text[start:at].strip())
            start = at + 1
        if text[at] == '"':
            try:
                at = end_of_double_quotes(text, at + 1)
            except UnclosedError:
                break
        elif text[at] == "\\":
            at += 1
        at += 1
    return (*found, text[start:].strip())
