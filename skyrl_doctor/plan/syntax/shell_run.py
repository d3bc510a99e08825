"""Follows the statements of a shell script: assignments, branches, loops, functions, sourced files."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from skyrl_doctor.core.errors import CouldNotLook, UsageError
from skyrl_doctor.plan.syntax.shell import Command, OpenFile, Script
from skyrl_doctor.plan.syntax.shell_arithmetic import UnclearError
from skyrl_doctor.plan.syntax.shell_assign import Assigner
from skyrl_doctor.plan.syntax.shell_branches import Arm, arms_of_case, arms_of_if, exits, negated
from skyrl_doctor.plan.syntax.shell_conditions import decide
from skyrl_doctor.plan.syntax.shell_outputs import changed_directory, here_document, output
from skyrl_doctor.plan.syntax.shell_patterns import matches
from skyrl_doctor.plan.syntax.shell_scope import Scope
from skyrl_doctor.plan.syntax.shell_tree import Text, parse
from skyrl_doctor.plan.syntax.shell_values import Piece, Value, Word, hidden, joined, known, text_of, unknown_of
from skyrl_doctor.plan.syntax.shell_words import NOT_BEFORE_IT_RUNS, Expander

MOST_STEPS = 20_000
MOST_COMMANDS = 4_000
MOST_BYTES = 16 << 20
MOST_ROUNDS = 100
MOST_DEPTH = 20
MOST_FILES = 16
_SHELLS = ("bash", "sh", "zsh")
_MAY_FAIL = ("command", "type", "which", "hash", "grep", "pgrep", "nc", "curl", "ping", "diff", "cmp", "read")


class LeaveError(Exception):
    """The script leaves a loop, a function or itself: break, continue, return, exit."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


@dataclass(slots=True)
class Budget:
    """What is left of the limits that all parts of one script share."""

    steps: int = MOST_STEPS
    bytes: int = MOST_BYTES
    files: int = MOST_FILES
    depth: int = 0


@dataclass(slots=True)
class Function:
    body: Any
    text: Text


@dataclass(slots=True)
class Shared:
    """What a script and its subshells share."""

    script: Script
    open_file: OpenFile
    budget: Budget = field(default_factory=Budget)
    functions: dict[str, Function] = field(default_factory=dict)


def run(script: Script, text: str, name: str, environ: Mapping[str, str], open_file: OpenFile) -> None:
    """Follows a script and fills `script`. Raises UsageError if it needs more than the limits allow."""
    scope = Scope(environ, name, script.variables, directory=environ.get("PWD"), unread=script.sourced)
    runner = Runner(Shared(script, open_file), scope, Text(text.encode("utf-8", "surrogatepass"), ""))
    script.is_broken = runner.run_text()


class Runner:
    """Follows one text in one scope."""

    def __init__(self, shared: Shared, scope: Scope, text: Text) -> None:
        self._shared, self._scope, self._text = shared, scope, text
        self._expander = Expander(scope, self._captured)
        self._assigner = Assigner(scope, shared.script, self._expander)
        self._outputs: list[Piece] | None = None

    def run_text(self) -> bool:
        """Follows the text to its end or to `exit`; whether the grammar could not read a part."""
        root = parse(self._text.data)
        try:
            self._block(root.children)
        except LeaveError:
            pass
        return bool(root.has_error)

    def _block(self, nodes: Iterable[Any]) -> None:
        for node in nodes:
            self._statement(node)

    def _statement(self, node: Any) -> None:
        budget = self._shared.budget
        budget.steps -= 1
        if budget.steps < 0:
            raise UsageError(f"the shell script takes more than {MOST_STEPS} steps")
        follow = _FOLLOW.get(node.type)
        if follow is not None:
            follow(self, node)
        elif node.is_named and node.type not in _IGNORED:
            self._block(node.children)  # groups, redirected statements, what the grammar could not read

    def _comment(self, node: Any) -> None:
        if not self._text.file:
            self._shared.script.comments.append((node.start_point[0] + 1, self._text.of(node)))

    def _assign(self, node: Any) -> None:
        self._assigner.assign(node, self._text)

    def _declare(self, node: Any) -> None:
        self._assigner.declare(node, self._text)

    def _unset(self, node: Any) -> None:
        for child in node.named_children:
            self._scope.variables.pop(self._text.of(child), None)

    def _group(self, node: Any) -> None:
        """`{ …; }`, or `(( … ))`."""
        if node.children and node.children[0].type == "((":
            self._number(self._text.of(node)[2:-2])
        else:
            self._block(node.children)

    def _number(self, text: str) -> int | None:
        try:
            return self._expander.number(text)
        except UnclearError:
            return None

    def _redirected(self, node: Any) -> None:
        bodies = [child for child in node.children if "redirect" not in child.type]
        texts = [self._text.of(child) for child in node.children if "redirect" in child.type]
        is_elsewhere = any(">" in text and not text.startswith("2") for text in texts)
        kept, self._outputs = self._outputs, [] if is_elsewhere and self._outputs is not None else self._outputs
        strings = [child for child in node.children if child.type == "herestring_redirect"]
        self._assigner.here_string = self._text.of(strings[-1])[3:].strip() if strings else None
        try:
            self._block(bodies)
        finally:
            self._outputs, self._assigner.here_string = kept, None

    def _subshell(self, node: Any) -> None:
        inner = Runner(self._shared, self._scope.copy(), self._text)
        inner._outputs = self._outputs
        inner._assigner.depends_on = self._assigner.depends_on
        try:
            inner._block(node.children)
        except LeaveError:
            return

    def _pipeline(self, node: Any) -> None:
        if self._outputs is not None:
            self._outputs.append(Piece("", NOT_BEFORE_IT_RUNS))
            return
        for child in node.named_children:
            inner = Runner(self._shared, self._scope.copy(), self._text)
            inner._assigner.depends_on = self._assigner.depends_on
            try:
                inner._statement(child)
            except LeaveError:
                continue

    def _function(self, node: Any) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None and body is not None:
            self._shared.functions[self._text.of(name)] = Function(body, self._text)

    # commands

    def _command(self, node: Any) -> None:
        assigned = [child for child in node.children if child.type == "variable_assignment"]
        name_node = node.child_by_field_name("name")
        if name_node is None or (assigned and self._text.has_line_end(assigned[-1].end_byte, name_node.start_byte)):
            for child in assigned:  # the grammar joins `A=1 B=2` with the command on the next line, bash does not
                self._assigner.assign(child, self._text)
            assigned = []
        words = self._words(node)
        if not words:
            return
        environment = {made.name: made for child in assigned if (made := self._assigner.local(child, self._text))}
        self._started(Command(tuple(words), words[0].line, environment))

    def _words(self, node: Any) -> list[Word]:
        """The words of a command. Nodes without a blank between them are one word."""
        parts = [
            child for child in node.children if child.type != "variable_assignment" and "redirect" not in child.type
        ]
        found: list[Word] = []
        for raw, line, span in self._text.joined(parts):
            found += self._expander.words(raw, line, span, self._text.file)
        self._shared.budget.bytes -= sum(len(word.text) for word in found)
        if self._shared.budget.bytes < 0:
            raise UsageError(f"the shell script expands to more than {MOST_BYTES >> 20} MiB")
        return found

    def _started(self, command: Command) -> None:
        """What a command does to the script: a builtin, a function, another file, or a program."""
        name, words = command.name, command.words
        builtin = _BUILTINS.get(name)
        if name in ("exit", "return", "break", "continue"):
            if not self._assigner.depends_on:
                raise LeaveError(name)
        elif builtin is not None:
            builtin(self, command)
        elif name in self._shared.functions:
            self._call(self._shared.functions[name], words[1:])
        elif self._outputs is not None:
            self._outputs += [*output(words, self._scope), Piece("\n")]
        elif not self._assigner.builtin(command):
            if len(self._shared.script.commands) >= MOST_COMMANDS:
                raise UsageError(f"the shell script starts more than {MOST_COMMANDS} commands")
            self._shared.script.commands.append(command)
            self._started_file(words)

    def _call(self, function: Function, arguments: Sequence[Word]) -> None:
        budget = self._shared.budget
        if budget.depth >= MOST_DEPTH:
            return
        budget.depth += 1
        kept, text = self._scope.arguments, self._text
        self._scope.arguments, self._text = tuple(arguments), function.text
        locals_before = self._assigner.enter()
        try:
            self._statement(function.body)
        except LeaveError as left:
            if left.kind == "exit":
                raise
        finally:
            self._assigner.leave(locals_before)
            self._scope.arguments, self._text = kept, text
            budget.depth -= 1

    def _eval(self, command: Command) -> None:
        text = " ".join(word.text for word in command.words[1:])
        if any(word.unknown for word in command.words) or self._shared.budget.depth >= MOST_DEPTH:
            self._shared.script.commands.append(command)
            return
        self._inner(Text(text.encode("utf-8", "surrogatepass"), self._text.file, command.line - 1))

    def _inner(self, text: Text) -> None:
        """Follows another text in the same scope."""
        budget, kept = self._shared.budget, self._text
        budget.depth += 1
        self._text = text
        try:
            self._block(parse(text.data).children)
        finally:
            self._text = kept
            budget.depth -= 1

    def _source(self, command: Command) -> None:
        if len(command.words) < 2:
            return
        found = self._file(command.words[1])
        if found is None:
            self._shared.script.sourced.append(command.words[1].text)
            return
        kept = self._scope.arguments
        if len(command.words) > 2:
            self._scope.arguments = command.words[2:]
        try:
            self._inner(found)
        except LeaveError as left:
            if left.kind == "exit":
                raise
        finally:
            self._scope.arguments = kept

    def _file(self, path: Word) -> Text | None:
        budget = self._shared.budget
        if path.unknown or budget.files <= 0 or budget.depth >= MOST_DEPTH:
            return None
        budget.files -= 1
        text = self._shared.open_file(path.text)
        if text is None:
            return None
        return Text(text.replace("\r\n", "\n").encode("utf-8", "surrogatepass"), path.text)

    def _started_file(self, words: Sequence[Word]) -> None:
        """Follows `bash other.sh …` and `./other.sh …`, which get the exported variables and their arguments."""
        at = 1 if words[0].text in _SHELLS else 0
        if len(words) <= at or not words[at].text.endswith((".sh", ".bash")):
            return
        found = self._file(words[at])
        if found is None:
            return
        script = self._shared.script
        exported = {name: value for name, value in self._scope.variables.items() if name in script.exported}
        scope = Scope(self._scope.environ, words[at].text, exported, tuple(words[at + 1 :]), self._scope.directory)
        scope.unread = self._scope.unread
        inner = Runner(self._shared, scope, found)
        inner._assigner.depends_on = self._assigner.depends_on
        self._shared.budget.depth += 1
        inner.run_text()
        self._shared.budget.depth -= 1

    def _set(self, command: Command) -> None:
        texts = [word.text for word in command.words]
        if "--" in texts:
            self._scope.arguments = command.words[texts.index("--") + 1 :]
        elif "-a" in texts or "allexport" in texts:
            self._assigner.exports_all = "+o" not in texts

    def _shift(self, command: Command) -> None:
        count = command.words[1].text if len(command.words) > 1 else "1"
        if self._scope.arguments is not None and count.isdigit() and len(count) < 5:
            self._scope.arguments = self._scope.arguments[int(count) :]

    def _cd(self, command: Command) -> None:
        self._scope.directory = changed_directory(command.words, self._scope)

    def _let(self, command: Command) -> None:
        for word in command.words[1:]:
            self._number(word.text)

    # branches

    def _if(self, node: Any) -> None:
        self._branch(arms_of_if(node), lambda arm: self._decided(arm.conditions), node, "if")

    def _case(self, node: Any) -> None:
        subject = node.child_by_field_name("value")
        value, is_certain = self._assuming(lambda: self._expander.value(self._text.of(subject)))
        arms = arms_of_case(node, self._text)

        def decided(arm: Arm) -> tuple[bool | None, bool]:
            if arm.is_default:
                return True, is_certain
            if unknown_of(value):
                return None, False
            return self._matches(text_of(value), arm.patterns), is_certain

        self._branch(arms, decided, node, "case")

    def _matches(self, text: str, patterns: Sequence[str]) -> bool | None:
        values = [self._expander.value(pattern) for pattern in patterns]
        try:
            return any(matches(text, text_of(value)) for value in values)
        except CouldNotLook:
            return None

    def _branch(self, arms: Sequence[Arm], decided: Any, node: Any, kind: str) -> None:
        """Follows one arm: the first whose condition holds. An arm that ends the script is not taken on a guess."""
        why = f"depends on the {kind} in line {self._text.line(node)}"
        unclear: list[Arm] = []
        for arm in arms:
            is_true, is_certain = decided(arm)
            is_certain = is_certain and not unclear
            if is_true and (is_certain or not exits(arm.body, self._text)):
                self._block(arm.body)
                self._assigner.unclear([found.body for found in unclear], why, self._text)
                return
            if is_true is not False:
                unclear.append(arm)
            if is_true and is_certain:
                break
        possible = [arm for arm in (unclear if kind == "if" else arms) if not exits(arm.body, self._text)]
        if unclear and possible:
            with self._assigner.depending(why):
                self._block(possible[0].body)
            self._assigner.unclear([arm.body for arm in possible[1:]], why, self._text)

    def _decided(self, conditions: Sequence[Any]) -> tuple[bool | None, bool]:
        """Whether the conditions of an `if` or a loop hold, and whether that is certain."""
        return self._assuming(lambda: self._status(conditions, in_condition=True))

    def _assuming(self, look: Any) -> Any:
        """A result, and whether it holds without assuming that unset names are empty."""
        scope = self._scope
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
            text = self._text.of(node)
            if text.startswith("(("):
                value = self._number(text[2:-2])
                return None if value is None else value != 0
            width = 2 if text.startswith("[[") else 1
            return decide(text[width:-width], self._expander)
        if kind == "negated_command":
            return negated(self._status(node.named_children, in_condition=in_condition))
        if kind == "list":
            return self._list_status(node, in_condition=in_condition)
        if kind == "compound_statement" and self._text.of(node).startswith("(("):
            value = self._number(self._text.of(node)[2:-2])
            return None if value is None else value != 0
        if kind == "redirected_statement" and node.named_children:
            return self._one_status(node.named_children[0], in_condition=in_condition)
        return self._program_status(node, in_condition=in_condition)

    def _program_status(self, node: Any, *, in_condition: bool) -> bool | None:
        is_assuming, self._scope.is_assuming = self._scope.is_assuming, False
        text = self._text.of(node).strip()
        name = text.split()[0] if text else ""
        try:
            if name in ("test", "["):
                self._scope.is_assuming = True
                return decide(text[len(name) :].removesuffix("]"), self._expander)
            if name in ("true", ":", "false", "getopts"):
                return name in ("true", ":")
            if not (in_condition and self._scope.is_assuming):
                self._statement(node)
        finally:
            self._scope.is_assuming = is_assuming
        self._scope.assume()
        return None if in_condition or name in _MAY_FAIL or node.type == "pipeline" else True

    def _list(self, node: Any) -> None:
        self._list_status(node, in_condition=False)

    def _list_status(self, node: Any, *, in_condition: bool) -> bool | None:
        """`a && b`, `a || b`."""
        if len(node.named_children) < 2:
            self._block(node.children)
            return None
        left, right = node.named_children[0], node.named_children[-1]
        operator = next((child.type for child in node.children if child.type in ("&&", "||")), "&&")
        first, is_certain = self._assuming(lambda: self._status([left], in_condition=in_condition))
        if not is_certain:
            self._scope.assume()
        goes_on = first if operator == "&&" else negated(first)
        if goes_on is False or (not (goes_on and is_certain) and exits([right], self._text)):
            return first
        if in_condition:
            second = self._status([right], in_condition=True)
            return second if goes_on else None
        if goes_on:
            return self._status([right], in_condition=False)
        with self._assigner.depending(f"depends on the condition in line {self._text.line(node)}"):
            self._statement(right)
        return None

    # loops

    def _for(self, node: Any) -> None:
        variable, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        if variable is None or body is None:
            return
        at = next((number for number, child in enumerate(node.children) if child.type == "in"), None)
        words = list(self._scope.arguments or ())
        if at is not None:
            parts = [
                child
                for child in node.children[at + 1 :]
                if child.start_byte < body.start_byte and child.type not in (";", "\n")
            ]
            words = [
                word
                for raw, line, span in self._text.joined(parts)
                for word in self._expander.words(raw, line, span, self._text.file)
            ]
        for word in words[:MOST_ROUNDS]:
            self._scope.set_text(self._text.of(variable), word.pieces, word.line)
            if self._round(body):
                return

    def _c_style_for(self, node: Any) -> None:
        parts = {name: node.child_by_field_name(name) for name in ("initializer", "condition", "update", "body")}
        texts = {name: self._text.of(part) for name, part in parts.items() if part is not None and name != "body"}
        body = parts["body"]
        if body is None:
            return
        self._number(texts.get("initializer", "0"))
        for _ in range(MOST_ROUNDS):
            if not self._number(texts.get("condition", "1")) or self._round(body):
                return
            self._number(texts.get("update", "0"))

    def _while(self, node: Any) -> None:
        body = node.child_by_field_name("body")
        conditions = [child for child in node.named_children if body is not None and child.start_byte < body.start_byte]
        is_until = node.children[0].type == "until"
        is_endless = self._text.of(conditions[-1]) in ("true", ":") if conditions else True
        for _ in range(MOST_ROUNDS):
            holds, _certain = self._decided(conditions)
            holds = negated(holds) if is_until else holds
            if holds is False or body is None:
                return
            if holds is None:
                with self._assigner.depending(f"depends on the loop in line {self._text.line(node)}"):
                    self._round(body)
                return
            if self._round(body) or is_endless:
                return

    def _round(self, body: Any) -> bool:
        """Follows the body of a loop once; whether it leaves the loop."""
        try:
            self._block(body.children)
        except LeaveError as left:
            if left.kind in ("exit", "return"):
                raise
            return left.kind == "break"
        return False

    # output

    def _captured(self, text: str) -> Value:
        """The output of `$(text)`."""
        budget = self._shared.budget
        if budget.depth >= MOST_DEPTH:
            return (Piece("", "nested too deeply"),)
        document = here_document(text)
        if document is not None:
            return self._document(*document)
        scope = self._scope.copy()
        scope.is_assuming = False
        inner = Runner(self._shared, scope, Text(text.encode("utf-8", "surrogatepass"), self._text.file))
        inner._outputs = []
        budget.depth += 1
        try:
            inner.run_text()
        finally:
            budget.depth -= 1
        made = joined(inner._outputs)
        if not made or unknown_of(made):
            return hidden(made, NOT_BEFORE_IT_RUNS) if made else (Piece("", NOT_BEFORE_IT_RUNS),)
        return known(text_of(made).rstrip("\n"))

    def _document(self, text: str, is_expanded: bool) -> Value:  # noqa: FBT001 - the two parts of a here-document
        return self._expander.value(f'"{text}"') if is_expanded else known(text)


_IGNORED = ("test_command", "command_substitution", "heredoc_body", "heredoc_redirect", "file_redirect", "string")
_FOLLOW = {
    "comment": Runner._comment,
    "variable_assignment": Runner._assign,
    "declaration_command": Runner._declare,
    "unset_command": Runner._unset,
    "command": Runner._command,
    "redirected_statement": Runner._redirected,
    "compound_statement": Runner._group,
    "subshell": Runner._subshell,
    "pipeline": Runner._pipeline,
    "function_definition": Runner._function,
    "if_statement": Runner._if,
    "case_statement": Runner._case,
    "for_statement": Runner._for,
    "c_style_for_statement": Runner._c_style_for,
    "while_statement": Runner._while,
    "list": Runner._list,
}
_BUILTINS = {
    "eval": Runner._eval,
    "source": Runner._source,
    ".": Runner._source,
    "set": Runner._set,
    "shift": Runner._shift,
    "cd": Runner._cd,
    "let": Runner._let,
}
