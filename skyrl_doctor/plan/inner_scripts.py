"""Puts the commands of `bash -c "…"` in the place of that command, behind any wrapper: srun, apptainer, podman, env.

The words of the wrapper stay in front of them, since they say on how many nodes the command runs. Places inside quotes are
those of the file where the quoted text stands in it as it is.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from skyrl_doctor.plan.launches import SHELLS, SILENT, base
from skyrl_doctor.plan.source import Source
from skyrl_doctor.plan.syntax.shell import Command, Script, read_script
from skyrl_doctor.plan.syntax.shell_values import Word

MAX_DEPTH = 3
"""How deep `bash -c "bash -c …"` is read."""


def with_inner_commands(script: Script, text: str) -> None:
    """Changes the script. `text` is what its file holds."""
    environ = {
        name: variable.words[0].text
        for name in script.exported
        if (variable := script.variables.get(name)) and len(variable.words) == 1 and not variable.words[0].unknown
    }
    script.commands[:] = [one for command in script.commands for one in _expanded(command, text, environ, MAX_DEPTH)]


def _expanded(command: Command, text: str, environ: Mapping[str, str], depth: int) -> Iterator[Command]:
    found_at = _inner_script_at(command.words) if depth else None
    if found_at is None:
        yield command
        return
    shell, script = found_at
    outer, wrapper = command.words[script], command.words[:shell]
    inner = read_script(Source("", outer.text), environ)
    for found in inner.commands:
        words = tuple(_placed(word, outer, text) for word in found.words)
        made = replace(found, words=(*wrapper, *words), line=outer.line + found.line - 1)
        yield from _expanded(made, text, environ, depth - 1)


def _inner_script_at(words: tuple[Word, ...]) -> tuple[int, int] | None:
    """The numbers of the shell and of its script in `bash -c "…"`; None for another command."""
    names = [base(word) for word in words]
    shell = next((at for at, name in enumerate(names[:-1]) if name in SHELLS and names[0] not in SILENT), None)
    if shell is None:
        return None
    script = next((at for at in range(shell + 1, len(words)) if not words[at].text.startswith("-")), None)
    flags = "".join(word.text for word in words[shell + 1 : script] if not word.text.startswith("--"))
    return None if script is None or "c" not in flags else (shell, script)


def _placed(word: Word, outer: Word, text: str) -> Word:
    """A word of the quoted text, with its place in the file. Without a place of its own it has that of the whole text."""
    start, quoted, data = outer.span[0] + 1, outer.text.encode(), text.encode()
    line = outer.line + word.line - 1
    if not outer.file and data[start : start + len(quoted)] == quoted:
        return replace(word, line=line, span=(start + word.span[0], start + word.span[1]), file="")
    return replace(word, line=line, span=outer.span, file=outer.file)
