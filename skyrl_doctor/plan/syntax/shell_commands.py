"""Simple commands of a shell script: builtins, functions, other files, programs."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.plan.sbatch_environ import job_of, sbatch_environ
from skyrl_doctor.plan.syntax.shell_outputs import absolute, changed_directory, from_start, output
from skyrl_doctor.plan.syntax.shell_programs import SHELLS, base, behind_gate, script_at
from skyrl_doctor.plan.syntax.shell_scope import Scope
from skyrl_doctor.plan.syntax.shell_script import Command, Job
from skyrl_doctor.plan.syntax.shell_shared import MOST_BYTES, MOST_COMMANDS, MOST_DEPTH, Follower, Function, LeaveError
from skyrl_doctor.plan.syntax.shell_tree import Text, parse
from skyrl_doctor.plan.syntax.shell_values import Piece, Word

MARK = "\ue000"
"""A letter that no script has, around the number of an unknown piece in a text for eval."""
_MARKED = re.compile(f"({MARK}[0-9]+{MARK})")
_STARTERS = ("exec", "command", "nohup", "time")
"""What may stand before the name of a program."""


class Commands:
    """Runs or records the commands of a runner."""

    def __init__(self, runner: Follower) -> None:
        self._runner = runner
        self._builtins: dict[str, Callable[[Command], None]] = {
            "eval": self._eval,
            "source": self._source,
            ".": self._source,
            "set": self._set,
            "shift": self._shift,
            "cd": self._cd,
            "let": self._let,
        }

    def command(self, node: Any) -> None:
        assigned = [child for child in node.children if child.type == "variable_assignment"]
        name_node = node.child_by_field_name("name")
        if name_node is None or (
            assigned and self._runner.text.has_line_end(assigned[-1].end_byte, name_node.start_byte)
        ):
            for child in assigned:  # the grammar joins `A=1 B=2` with the command on the next line, bash does not
                self._runner.assigner.assign(child, self._runner.text)
            assigned = []
        words = behind_gate(tuple(self._words(node)))
        if not words:
            return
        strings = [child for child in node.children if child.type == "herestring_redirect"]
        if strings:
            self._runner.assigner.here_string = self._runner.text.of(strings[-1])[3:].strip()
        environment = {
            made.name: made for child in assigned if (made := self._runner.assigner.local(child, self._runner.text))
        }
        self._run_command(
            Command(
                words,
                words[0].line,
                environment,
                self._exported(),
                document=self._runner.document,
                file=self._runner.text.file,
                start=self._runner.text.line(node),
            )
        )
        if strings:
            self._runner.assigner.here_string = None

    def _exported(self) -> dict[str, str]:
        """The exported variables that are one known word."""
        found = ((name, self._runner.scope.variables.get(name)) for name in self._runner.shared.script.exported)
        return {
            name: variable.words[0].text
            for name, variable in found
            if variable is not None and len(variable.words) == 1 and not variable.words[0].unknown
        }

    def _words(self, node: Any) -> list[Word]:
        """The words of a command. Nodes without a blank between them are one word."""
        parts = [
            child for child in node.children if child.type != "variable_assignment" and "redirect" not in child.type
        ]
        found: list[Word] = []
        for raw, line, span in self._runner.text.joined(parts):
            found += self._runner.expander.words(raw, line, span, self._runner.text.file)
        if self._runner.shared.marked:
            found = [replace(word, pieces=tuple(chain(*map(self._unmarked, word.pieces)))) for word in found]
        self._runner.shared.budget.bytes -= sum(len(word.text) for word in found)
        if self._runner.shared.budget.bytes < 0:
            raise UsageError(f"the shell script expands to more than {MOST_BYTES >> 20} MiB")
        return found

    def _run_command(self, command: Command) -> None:
        """What a command does to the script: a builtin, a function, another file, or a program."""
        name, words = command.name, command.words
        builtin = self._builtins.get(name)
        if name in ("exit", "return", "break", "continue"):
            if not self._runner.assigner.depends_on:
                raise LeaveError(name)
        elif builtin is not None:
            builtin(command)
        elif name in self._runner.shared.functions:
            self._call(self._runner.shared.functions[name], words[1:])
        elif self._runner.outputs is not None:
            self._runner.outputs += [*output(words, self._runner.scope), Piece("\n")]
        elif not self._runner.assigner.builtin(command):
            if len(self._runner.shared.script.commands) >= MOST_COMMANDS:
                raise UsageError(f"the shell script starts more than {MOST_COMMANDS} commands")
            self._runner.shared.script.commands.append(command)
            self._started_file(command)

    def _call(self, function: Function, arguments: Sequence[Word]) -> None:
        budget = self._runner.shared.budget
        if budget.depth >= MOST_DEPTH:
            return
        budget.depth += 1
        kept, text = self._runner.scope.arguments, self._runner.text
        self._runner.scope.arguments, self._runner.text = tuple(arguments), function.text
        locals_before = self._runner.assigner.enter()
        try:
            self._runner.statement(function.body)
        except LeaveError as left:
            if left.kind == "exit":
                raise
        finally:
            self._runner.assigner.leave(locals_before)
            self._runner.scope.arguments, self._runner.text = kept, text
            budget.depth -= 1

    def _eval(self, command: Command) -> None:
        """Reads the words again, with a mark for each unknown piece. One that begins the text may be any command."""
        pieces = [piece for word in command.words[1:] for piece in (*word.pieces, Piece(" "))]
        if self._runner.shared.budget.depth >= MOST_DEPTH or (pieces and pieces[0].unknown):
            self._runner.shared.script.commands.append(command)
            return
        text = "".join(self._marked(piece) if piece.unknown else piece.text for piece in pieces)
        self._inner(Text(text.encode("utf-8", "surrogatepass"), self._runner.text.file, command.line - 1))

    def _marked(self, piece: Piece) -> str:
        self._runner.shared.marked.append(piece)
        return f"{MARK}{len(self._runner.shared.marked) - 1}{MARK}"

    def _unmarked(self, piece: Piece) -> Iterator[Piece]:
        """The piece with the unknown ones that its marks stand for."""
        marked = self._runner.shared.marked
        for at, part in enumerate(_MARKED.split(piece.text)):
            if at % 2 and len(part) < 9 and int(part[1:-1]) < len(marked):
                yield marked[int(part[1:-1])]
            elif part:
                yield Piece(part, piece.unknown)

    def _inner(self, text: Text) -> None:
        """Follows another text in the same scope."""
        budget, kept = self._runner.shared.budget, self._runner.text
        budget.depth += 1
        self._runner.text = text
        try:
            self._runner.block(parse(text.data).children)
        finally:
            self._runner.text = kept
            budget.depth -= 1

    def _source(self, command: Command) -> None:
        if len(command.words) < 2:
            return
        found = self._file(command.words[1])
        if found is None:
            self._runner.shared.script.sourced.append(command.words[1].text)
            return
        kept = self._runner.scope.arguments
        if len(command.words) > 2:
            self._runner.scope.arguments = command.words[2:]
        try:
            self._inner(found)
        except LeaveError as left:
            if left.kind == "exit":
                raise
        finally:
            self._runner.scope.arguments = kept

    def _file(self, path: Word) -> Text | None:
        budget = self._runner.shared.budget
        if path.unknown or budget.files <= 0 or budget.depth >= MOST_DEPTH:
            return None
        budget.files -= 1
        here = from_start(path.text, self._runner.scope)
        found = self._runner.shared.open_file(here) or (
            self._runner.shared.open_file(path.text) if here != path.text else None
        )
        if found is None:
            return None
        return Text(found.text.replace("\r\n", "\n").encode("utf-8", "surrogatepass"), found.file)

    def _started_file(self, command: Command) -> None:
        """Follows `bash other.sh …`, `./other.sh …` and `sbatch other.sh`, also behind srun and the like.

        The other script gets the exported variables and its arguments. It stands behind the words of its wrapper.
        """
        words = command.words
        at = script_at(words)
        if at is None:
            return
        commands = self._runner.shared.script.commands
        written = self._runner.shared.written.get(absolute(words[at].text, self._runner.scope) or words[at].text)
        if written is not None:
            commands[-1] = replace(command, words=words[:at], document=written)
            return
        found = self._file(words[at])
        if found is None:
            return
        job = None
        if base(words[0]) == "sbatch":
            job = job_of(words[1:at], found.of_all(), 1, found.file)
        first = len(commands)
        self._runner.shared.budget.depth += 1
        self._runner.started_file(found, self._scope_of(command, at, job))
        self._runner.shared.budget.depth -= 1
        wrapper = tuple(word for word in words[:at] if word.text not in _STARTERS and base(word) not in SHELLS)
        if job is not None:
            wrapper = ()
        if wrapper or job is not None:
            commands[first:] = [
                replace(one, words=(*wrapper, *one.words), job=one.job or job) for one in commands[first:]
            ]

    def _scope_of(self, command: Command, at: int, job: Job | None) -> Scope:
        """What the names mean in a script that a command starts."""
        kept, script = self._runner.scope, self._runner.shared.script
        exported = {name: made for name, made in kept.variables.items() if name in script.exported}
        exported |= command.environment
        environ = kept.environ if job is None else {**kept.environ, **sbatch_environ(job.text)}
        scope = Scope(environ, command.words[at].text, exported, tuple(command.words[at + 1 :]), kept.directory)
        scope.unread = kept.unread
        return scope

    def _set(self, command: Command) -> None:
        texts = [word.text for word in command.words]
        if "--" in texts:
            self._runner.scope.arguments = command.words[texts.index("--") + 1 :]
        elif "-a" in texts or "allexport" in texts:
            self._runner.assigner.exports_all = "+o" not in texts

    def _shift(self, command: Command) -> None:
        count = command.words[1].text if len(command.words) > 1 else "1"
        if self._runner.scope.arguments is not None and count.isdigit() and len(count) < 5:
            self._runner.scope.arguments = self._runner.scope.arguments[int(count) :]

    def _cd(self, command: Command) -> None:
        self._runner.scope.directory = changed_directory(command.words, self._runner.scope)

    def _let(self, command: Command) -> None:
        for word in command.words[1:]:
            self._runner.number(word.text)
