"""Branches and loops of a shell script: which arm runs by default, and how often a body does."""

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.plan.syntax.shell_branches import Arm, arms_of_case, arms_of_if, exits, negated
from skyrl_doctor.plan.syntax.shell_conditions import decide
from skyrl_doctor.plan.syntax.shell_patterns import matches
from skyrl_doctor.plan.syntax.shell_script import PassedOver
from skyrl_doctor.plan.syntax.shell_shared import MOST_ROUNDS, Follower, LeaveError
from skyrl_doctor.plan.syntax.shell_values import ON_A_BRANCH, text_of, unknown_of

T = TypeVar("T")
Decided = Callable[[Arm], tuple[bool | None, bool]]
"""Whether an arm runs (None: not known), and whether that is certain."""
_OTHER_DEVICES = re.compile(r"\b(?:torch_)?npu\b|npu-smi|ascend", re.IGNORECASE)
"""A probe for one of these fails: the doctor examines machines with NVIDIA GPUs."""
_TRAINS = re.compile(r"\b(?:python[\d.]*|torchrun|accelerate|uv run)\s[^\n]*(?:main_|train|sft)")
_PROBES = ("python", "python3", "command", "which", "type", "hash", "npu-smi")
_MAY_FAIL = ("command", "type", "which", "hash", "grep", "pgrep", "nc", "curl", "ping", "diff", "cmp", "read")


class Flow:
    """Decides what a runner follows."""

    def __init__(self, runner: Follower) -> None:
        self._runner = runner

    def if_statement(self, node: Any) -> None:
        def decided(arm: Arm) -> tuple[bool | None, bool]:
            return (True, True) if arm.is_default else self._decided(arm.conditions)

        self._branch(arms_of_if(node), decided, node, "if")

    def case_statement(self, node: Any) -> None:
        subject = node.child_by_field_name("value")
        value, is_certain = self._assuming(lambda: self._runner.expander.value(self._runner.text.of(subject)))
        arms = arms_of_case(node, self._runner.text)

        def decided(arm: Arm) -> tuple[bool | None, bool]:
            if arm.is_default:
                return True, is_certain
            if unknown_of(value):
                return None, False
            return self._matches(text_of(value), arm.patterns), is_certain

        self._branch(arms, decided, node, "case")

    def _matches(self, text: str, patterns: Sequence[str]) -> bool | None:
        values = [self._runner.expander.value(pattern) for pattern in patterns]
        try:
            return any(matches(text, text_of(value)) for value in values)
        except CouldNotLook:
            return None

    def _branch(self, arms: Sequence[Arm], decided: Decided, node: Any, kind: str) -> None:
        """Follows one arm: the first whose condition holds. An arm that ends the script is not taken on a guess.

        If conditions are not known, the default arm is followed, unless another arm alone starts a training.
        """
        why = f"{ON_A_BRANCH}{kind} in line {self._runner.text.line(node)}"
        unclear: list[Arm] = []
        for arm in arms:
            is_true, is_certain = decided(arm)
            if is_true is False and kind == "if":
                self._pass_over(arm.conditions, arm.body)
            is_certain = is_certain and not unclear
            if is_true and (is_certain or not exits(arm.body, self._runner.text)):
                left = self._followed(arm, unclear, why)
                self._runner.assigner.unclear([found.body for found in left], why, self._runner.text)
                return
            if is_true is not False:
                unclear.append(arm)
            if is_true and is_certain:
                break
        possible = [arm for arm in (unclear if kind == "if" else arms) if not exits(arm.body, self._runner.text)]
        if unclear and possible:
            with self._runner.assigner.depending(why):
                self._runner.block(possible[0].body)
            self._runner.assigner.unclear([arm.body for arm in possible[1:]], why, self._runner.text)

    def _followed(self, arm: Arm, unclear: Sequence[Arm], why: str) -> list[Arm]:
        """Follows this arm, or the only one of the unclear arms that starts a training; the arms that were not followed."""
        training = [] if self._trains(arm) else [other for other in unclear if self._trains(other)]
        if len(training) != 1:
            self._runner.block(arm.body)
            return list(unclear)
        with self._runner.assigner.depending(why):
            self._runner.block(training[0].body)
        return [arm, *(other for other in unclear if other is not training[0])]

    def _pass_over(self, conditions: Sequence[Any], body: Sequence[Any]) -> None:
        """Notes a training behind a condition that does not hold."""
        text, named = self._runner.text, [node for node in conditions if node.is_named and node.type != "comment"]
        passed_over = self._runner.shared.script.passed_over
        for node in body if named and len(passed_over) < MOST_ROUNDS else ():
            found = _TRAINS.search(text.of(node))
            if found is not None:
                line = text.line(node) + text.of(node)[: found.start()].count("\n")
                condition = text.between(named[0].start_byte, named[-1].end_byte).strip()
                program = text.of(node)[found.start() :].split("\n", 1)[0].rstrip("\\ ").strip()
                passed_over.append(PassedOver(line, program, text.line(named[0]), condition, text.file))
                return

    def _trains(self, arm: Arm) -> bool:
        """Whether an arm starts a training, such as the arm of the head node, whose address is not known."""
        return any(_TRAINS.search(self._runner.text.of(node)) for node in arm.body)

    def _decided(self, conditions: Sequence[Any]) -> tuple[bool | None, bool]:
        """Whether the conditions of an `if` or a loop hold, and whether that is certain."""
        return self._assuming(lambda: self._status(conditions, in_condition=True))

    def _assuming(self, look: Callable[[], T]) -> tuple[T, bool]:
        """A result, and whether it holds without assuming that unset names are empty."""
        scope = self._runner.scope
        kept = scope.is_assuming, scope.assumed
        scope.is_assuming, scope.assumed = True, False
        try:
            return look(), not scope.assumed
        finally:
            scope.is_assuming, scope.assumed = kept

    def _status(self, nodes: Sequence[Any], *, in_condition: bool) -> bool | None:
        """Whether the last of these statements succeeds. Programs are recorded."""
        result: bool | None = None
        for node in nodes:
            if node.is_named and node.type != "comment":
                result = self._one_status(node, in_condition=in_condition)
        return result

    def _one_status(self, node: Any, *, in_condition: bool) -> bool | None:
        kind = node.type
        if kind == "test_command":
            text = self._runner.text.of(node)
            if text.startswith("(("):
                value = self._runner.number(text[2:-2])
                return None if value is None else value != 0
            width = 2 if text.startswith("[[") else 1
            return decide(text[width:-width], self._runner.expander)
        if kind == "negated_command":
            return negated(self._status(node.named_children, in_condition=in_condition))
        if kind == "list":
            return self._list_status(node, in_condition=in_condition)
        if kind == "compound_statement" and self._runner.text.of(node).startswith("(("):
            value = self._runner.number(self._runner.text.of(node)[2:-2])
            return None if value is None else value != 0
        if kind == "redirected_statement" and node.named_children:
            return self._one_status(node.named_children[0], in_condition=in_condition)
        return self._program_status(node, in_condition=in_condition)

    def _program_status(self, node: Any, *, in_condition: bool) -> bool | None:
        is_assuming, self._runner.scope.is_assuming = self._runner.scope.is_assuming, False
        text = self._runner.text.of(node).strip()
        name = text.split()[0] if text else ""
        try:
            if name in ("test", "["):
                self._runner.scope.is_assuming = True
                return decide(text[len(name) :].removesuffix("]"), self._runner.expander)
            if name in ("true", ":", "false", "getopts"):
                return name in ("true", ":")
            if name in _PROBES and _OTHER_DEVICES.search(text) and ("-c" in text or not name.startswith("python")):
                return False
            self._runner.statement(node)
        finally:
            self._runner.scope.is_assuming = is_assuming
        self._runner.scope.assume()
        return None if in_condition or name in _MAY_FAIL or node.type == "pipeline" else True

    def list_statement(self, node: Any) -> None:
        self._list_status(node, in_condition=False)

    def _list_status(self, node: Any, *, in_condition: bool) -> bool | None:
        """`a && b`, `a || b`."""
        if len(node.named_children) < 2:
            self._runner.block(node.children)
            return None
        left, right = node.named_children[0], node.named_children[-1]
        operator = next((child.type for child in node.children if child.type in ("&&", "||")), "&&")
        first, is_certain = self._assuming(lambda: self._status([left], in_condition=in_condition))
        if not is_certain:
            self._runner.scope.assume()
        goes_on = first if operator == "&&" else negated(first)
        if goes_on is False and operator == "&&":
            self._pass_over([left], [right])
        if goes_on is False or (not (goes_on and is_certain) and exits([right], self._runner.text)):
            return first
        if in_condition:
            second = self._status([right], in_condition=True)
            return second if goes_on else None
        if goes_on:
            return self._status([right], in_condition=False)
        with self._runner.assigner.depending(f"{ON_A_BRANCH}condition in line {self._runner.text.line(node)}"):
            self._runner.statement(right)
        return None

    def for_statement(self, node: Any) -> None:
        variable, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        if variable is None or body is None:
            return
        at = next((number for number, child in enumerate(node.children) if child.type == "in"), None)
        words = list(self._runner.scope.arguments or ())
        if at is not None:
            parts = [
                child
                for child in node.children[at + 1 :]
                if child.start_byte < body.start_byte and child.type not in (";", "\n")
            ]
            words = [
                word
                for raw, line, span in self._runner.text.joined(parts)
                for word in self._runner.expander.words(raw, line, span, self._runner.text.file)
            ]
        for word in words[:MOST_ROUNDS]:
            self._runner.scope.set_text(self._runner.text.of(variable), word.pieces, word.line)
            if self._round(body):
                return

    def c_style_for_statement(self, node: Any) -> None:
        parts = {name: node.child_by_field_name(name) for name in ("initializer", "condition", "update", "body")}
        texts = {
            name: self._runner.text.of(part) for name, part in parts.items() if part is not None and name != "body"
        }
        body = parts["body"]
        if body is None:
            return
        self._runner.number(texts.get("initializer", "0"))
        for _ in range(MOST_ROUNDS):
            if not self._runner.number(texts.get("condition", "1")) or self._round(body):
                return
            self._runner.number(texts.get("update", "0"))

    def while_statement(self, node: Any) -> None:
        body = node.child_by_field_name("body")
        conditions = [child for child in node.named_children if body is not None and child.start_byte < body.start_byte]
        is_until = node.children[0].type == "until"
        is_endless = self._runner.text.of(conditions[-1]) in ("true", ":") if conditions else True
        for _ in range(MOST_ROUNDS):
            holds, _certain = self._decided(conditions)
            holds = negated(holds) if is_until else holds
            if holds is False or body is None:
                return
            if holds is None:
                with self._runner.assigner.depending(f"{ON_A_BRANCH}loop in line {self._runner.text.line(node)}"):
                    self._round(body)
                return
            if self._round(body) or is_endless:
                return

    def _round(self, body: Any) -> bool:
        """Follows the body of a loop once; whether it leaves the loop."""
        try:
            self._runner.block(body.children)
        except LeaveError as left:
            if left.kind in ("exit", "return"):
                raise
            return left.kind == "break"
        return False
