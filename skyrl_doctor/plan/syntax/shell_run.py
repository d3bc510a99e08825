"""Follows the statements of a shell script, each by its kind."""

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.plan.syntax.shell_arithmetic import UnclearError
from skyrl_doctor.plan.syntax.shell_assign import Assigner
from skyrl_doctor.plan.syntax.shell_commands import Commands
from skyrl_doctor.plan.syntax.shell_documents import COPIES, Document, document_of
from skyrl_doctor.plan.syntax.shell_flow import Flow
from skyrl_doctor.plan.syntax.shell_outputs import absolute, here_document
from skyrl_doctor.plan.syntax.shell_scope import Scope
from skyrl_doctor.plan.syntax.shell_script import OpenFile, Script
from skyrl_doctor.plan.syntax.shell_shared import MOST_DEPTH, MOST_STEPS, Function, LeaveError, Shared
from skyrl_doctor.plan.syntax.shell_tree import Text, parse
from skyrl_doctor.plan.syntax.shell_values import (
    NOT_BEFORE_IT_RUNS,
    Piece,
    Value,
    Word,
    hidden,
    joined,
    known,
    text_of,
    unknown_of,
)
from skyrl_doctor.plan.syntax.shell_words import Expander

_IGNORED = ("test_command", "command_substitution", "heredoc_body", "heredoc_redirect", "file_redirect", "string")


def run(script: Script, text: str, name: str, environ: Mapping[str, str], open_file: OpenFile) -> None:
    """Follows a script and fills `script`. Raises UsageError if it needs more than the limits allow."""
    scope = Scope(environ, name, script.variables, directory=environ.get("PWD"), unread=script.sourced)
    runner = Runner(Shared(script, open_file), scope, Text(text.encode("utf-8", "surrogatepass"), ""))
    script.is_broken = runner.run_text()
    script.written = {path: word.text for path, word in runner.shared.written.items()}


class Runner:
    """Follows one text in one scope."""

    def __init__(self, shared: Shared, scope: Scope, text: Text) -> None:
        self.shared, self.scope, self.text = shared, scope, text
        self.expander = Expander(scope, self._captured)
        self.assigner = Assigner(scope, shared.script, self.expander)
        self.outputs: list[Piece] | None = None
        self.document: Word | None = None
        commands, flow = Commands(self), Flow(self)
        self._follow: dict[str, Callable[[Any], None]] = {
            "comment": self._comment,
            "variable_assignment": self._assign,
            "declaration_command": self._declare,
            "unset_command": self._unset,
            "command": commands.command,
            "redirected_statement": self._redirected,
            "compound_statement": self._group,
            "subshell": self._subshell,
            "pipeline": self._pipeline,
            "function_definition": self._function,
            "if_statement": flow.if_statement,
            "case_statement": flow.case_statement,
            "for_statement": flow.for_statement,
            "c_style_for_statement": flow.c_style_for_statement,
            "while_statement": flow.while_statement,
            "list": flow.list_statement,
        }

    def run_text(self) -> bool:
        """Follows the text to its end or to `exit`; whether the grammar could not read a part."""
        root = parse(self.text.data)
        with contextlib.suppress(LeaveError):
            self.block(root.children)
        return bool(root.has_error)

    def block(self, nodes: Iterable[Any]) -> None:
        for node in nodes:
            self.statement(node)

    def statement(self, node: Any) -> None:
        budget = self.shared.budget
        budget.steps -= 1
        if budget.steps < 0:
            raise UsageError(f"the shell script takes more than {MOST_STEPS} steps")
        follow = self._follow.get(node.type)
        if follow is not None:
            follow(node)
        elif node.is_named and node.type not in _IGNORED:
            self.block(node.children)  # groups, redirected statements, what the grammar could not read

    def _comment(self, node: Any) -> None:
        if not self.text.file:
            self.shared.script.comments.append((node.start_point[0] + 1, self.text.of(node)))

    def _assign(self, node: Any) -> None:
        self.assigner.assign(node, self.text)

    def _declare(self, node: Any) -> None:
        self.assigner.declare(node, self.text)

    def _unset(self, node: Any) -> None:
        for child in node.named_children:
            self.scope.variables.pop(self.text.of(child), None)

    def _group(self, node: Any) -> None:
        """`{ …; }`, or `(( … ))`."""
        if node.children and node.children[0].type == "((":
            self.number(self.text.of(node)[2:-2])
        else:
            self.block(node.children)

    def number(self, text: str) -> int | None:
        try:
            return self.expander.number(text)
        except UnclearError:
            return None

    def _redirected(self, node: Any) -> None:
        bodies = [child for child in node.children if "redirect" not in child.type]
        texts = [self.text.of(child) for child in node.children if "redirect" in child.type]
        is_elsewhere = any(">" in text and not text.startswith("2") for text in texts)
        kept, self.outputs = self.outputs, [] if is_elsewhere and self.outputs is not None else self.outputs
        strings = [child for child in node.children if child.type == "herestring_redirect"]
        self.assigner.here_string = self.text.of(strings[-1])[3:].strip() if strings else None
        read = document_of(node, self.text, self.expander)
        kept_document, self.document = self.document, read.word if read is not None else None
        try:
            self.block(bodies)
            if read is not None:
                self._pass_on(read, bodies)
        finally:
            self.outputs, self.assigner.here_string, self.document = kept, None, kept_document

    def _pass_on(self, read: Document, bodies: Sequence[Any]) -> None:
        """Notes the file that `cat > FILE <<END` writes, and follows what else stands on its line."""
        first = self.text.of(bodies[0]).split()[0] if bodies else ""
        if first in COPIES:
            arguments = self.expander.words(self.text.of(bodies[0])[len(first) :].strip(), 0, (0, 0))
            copies = arguments if first == "tee" else []
            for file in (*read.files, *(word for word in copies if not word.text.startswith("-"))):
                self.shared.written[absolute(file.text, self.scope) or file.text] = read.word
        else:
            self.document = None
        self.block(read.readers)
        self.document = None
        self.block(read.others)

    def started_file(self, text: Text, scope: Scope) -> None:
        """Follows another script that this one starts."""
        inner = Runner(self.shared, scope, text)
        inner.assigner.depends_on = self.assigner.depends_on
        inner.run_text()

    def _subshell(self, node: Any) -> None:
        inner = Runner(self.shared, self.scope.copy(), self.text)
        inner.outputs = self.outputs
        inner.assigner.depends_on = self.assigner.depends_on
        try:
            inner.block(node.children)
        except LeaveError:
            return

    def _pipeline(self, node: Any) -> None:
        if self.outputs is not None:
            self.outputs.append(Piece("", NOT_BEFORE_IT_RUNS))
            return
        for child in node.named_children:
            inner = Runner(self.shared, self.scope.copy(), self.text)
            inner.assigner.depends_on = self.assigner.depends_on
            try:
                inner.statement(child)
            except LeaveError:
                continue

    def _function(self, node: Any) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None and body is not None:
            self.shared.functions[self.text.of(name)] = Function(body, self.text)

    def _captured(self, text: str) -> Value:
        """The output of `$(text)`."""
        budget = self.shared.budget
        if budget.depth >= MOST_DEPTH:
            return (Piece("", "nested too deeply"),)
        document = here_document(text)
        if document is not None:
            return self._document(*document)
        scope = self.scope.copy()
        scope.is_assuming = False
        inner = Runner(self.shared, scope, Text(text.encode("utf-8", "surrogatepass"), self.text.file))
        inner.outputs = []
        budget.depth += 1
        try:
            inner.run_text()
        finally:
            budget.depth -= 1
        made = joined(inner.outputs)
        if not made or unknown_of(made):
            return hidden(made, NOT_BEFORE_IT_RUNS) if made else (Piece("", NOT_BEFORE_IT_RUNS),)
        return known(text_of(made).rstrip("\n"))

    def _document(self, text: str, is_expanded: bool) -> Value:  # noqa: FBT001 - the two parts of a here-document
        return self.expander.value(f'"{text}"') if is_expanded else known(text)
