"""Puts the commands of a quoted or written script in the place of the command that runs it, behind any wrapper.

`bash -c "…"`, `ssh host "…"`, `tmux new-session "…"`, `sbatch --wrap "…"`, `sbatch <<END`, `bash <<END`, and files that the script
writes before. The words of the wrapper stay in front, since they say on how many nodes the command runs; those of sbatch
become the job's options. Places inside are those of the file where the text stands in it as it is.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from skyrl_doctor.core.record import record
from skyrl_doctor.plan.launches import SILENT
from skyrl_doctor.plan.sbatch_environ import job_of, sbatch_environ
from skyrl_doctor.plan.source import Source
from skyrl_doctor.plan.syntax.shell import Command, OpenFile, Script, read_script
from skyrl_doctor.plan.syntax.shell_programs import SHELLS, base
from skyrl_doctor.plan.syntax.shell_script import Job
from skyrl_doctor.plan.syntax.shell_values import Word, known

MOST_FILES = 16
"""How many files the inner scripts of one file may start or source."""
MAX_DEPTH = 3
"""How deep `bash -c "bash -c …"` is read."""
_CONTAINERS = ("docker", "podman", "kubectl", "enroot", "ssh")
"""Programs whose inner commands do not have the variables of this machine."""
_SSH_VALUED = re.compile(r"-[BbcDEeFIiJLlmOopQRSWw]")
_TMUX = ("new-session", "new", "new-window", "neww", "send-keys", "send", "split-window")
_ENTER = ("C-m", "Enter")
_EXPORTED = re.compile(r"(?P<name>[A-Za-z_]\w*)=(?P<value>.*)", re.DOTALL)


@record
class Inner:
    """A script inside a command, the words of the command that stay in front, and the job that sbatch makes of it."""

    script: Word
    wrapper: tuple[Word, ...] = ()
    job: Job | None = None


def with_inner_commands(
    script: Script, text: str, environ: Mapping[str, str] | None = None, open_file: OpenFile = lambda _: None
) -> None:
    """Changes the script. `text` is what its file holds, `environ` the variables of this machine."""
    context = _Context(text, environ or {}, open_file)
    script.commands[:] = [one for command in script.commands for one in _expanded(command, context, MAX_DEPTH)]


@dataclass(slots=True)
class _Context:
    """What all inner scripts of a file share."""

    text: str
    environ: Mapping[str, str]
    open_file: OpenFile
    files: int = MOST_FILES

    def open(self, path: str) -> Source | None:
        self.files -= 1
        return self.open_file(path) if self.files >= 0 else None


def _expanded(command: Command, context: _Context, depth: int) -> Iterator[Command]:
    found = _inner(command) if depth else None
    if found is None:
        yield command
        return
    outer, job = found.script, found.job or command.job
    names = {base(word) for word in found.wrapper}
    is_elsewhere = bool(names.intersection(_CONTAINERS))
    variables = {**({} if is_elsewhere else context.environ), **command.exported, **_given(command.words)}
    if found.job is not None:
        variables = {**sbatch_environ(found.job.text), **variables}
    inner = read_script(Source("", outer.text), variables, (lambda _: None) if is_elsewhere else context.open)
    for one in inner.commands:
        words = tuple(_placed(word, outer, context.text) for word in one.words)
        document = _placed(one.document, outer, context.text) if one.document is not None else None
        made = replace(
            one,
            words=(*found.wrapper, *words),
            line=one.line if one.file else outer.line + one.line - 1,
            start=one.start if one.file else outer.line + one.start - 1,
            file=one.file or outer.file,
            document=document,
            job=one.job or job,
            exported={**command.exported, **one.exported},
        )
        yield from _expanded(made, context, depth - 1)


def _given(words: Sequence[Word]) -> dict[str, str]:
    """The variables of `sbatch --export=ALL,A=1`."""
    options = (word.text.removeprefix("--export=") for word in words if word.text.startswith("--export="))
    pairs = (found for option in options for part in option.split(",") if (found := _EXPORTED.fullmatch(part)))
    return {pair["name"]: pair["value"] for pair in pairs}


def _inner(command: Command) -> Inner | None:
    """The script inside a command; None if it has none."""
    words, document = command.words, command.document
    names = [base(word) for word in words]
    if not names or names[0] in SILENT:
        return None
    if names[0] == "sbatch":
        return _of_sbatch(words, document)
    shell = next((at for at, name in enumerate(names) if name in SHELLS), None)
    if shell is not None:
        return _of_shell(words, shell, document)
    if "ssh" in names[:1]:
        return _of_ssh(words, document)
    if names[0] == "tmux" and any(word.text in _TMUX for word in words):
        typed = [word for word in words if word.text not in _ENTER]
        return Inner(typed[-1]) if re.search(r"\s", typed[-1].text) else None
    return None


def _of_sbatch(words: tuple[Word, ...], document: Word | None) -> Inner | None:
    """`--wrap "…"`, else what it reads."""
    for at, word in enumerate(words):
        if word.text.startswith("--wrap="):
            written = word.text.removeprefix("--wrap=")
            start = word.span[0] + len("--wrap=")
            wrapped = replace(word, pieces=known(written), span=(start, word.span[1]))
            return Inner(wrapped, job=job_of((*words[1:at], *words[at + 1 :]), "", word.line, ""))
        if word.text == "--wrap" and at + 1 < len(words):
            return Inner(words[at + 1], job=job_of((*words[1:at], *words[at + 2 :]), "", word.line, ""))
    if document is None:
        return None
    return Inner(document, job=job_of(words[1:], document.text, document.line, document.file))


def _of_shell(words: tuple[Word, ...], shell: int, document: Word | None) -> Inner | None:
    """The text after `-c`, else what a shell without a file reads."""
    script = next((at for at in range(shell + 1, len(words)) if not words[at].text.startswith("-")), None)
    flags = "".join(word.text for word in words[shell + 1 : script] if not word.text.startswith("--"))
    if script is not None and "c" in flags:
        return Inner(words[script], words[:shell])
    if document is not None and (script is None or "s" in flags):
        return Inner(document, words[:shell])
    return None


def _of_ssh(words: tuple[Word, ...], document: Word | None) -> Inner | None:
    """The command after the host, else what ssh reads."""
    at = 1
    while at < len(words) and words[at].text.startswith("-"):
        at += 2 if _SSH_VALUED.fullmatch(words[at].text) else 1
    command = words[at + 1 :]
    if len(command) == 1:
        return Inner(command[0], words[:at])
    if not command and document is not None:
        return Inner(document, words[:at])
    return None


def _placed(word: Word, outer: Word, text: str) -> Word:
    """A word of the inner text, with its place in the file. Without a place of its own it has that of the whole text.

    A word of another file, which the inner text starts, has its place there.
    """
    if word.file:
        return word
    quoted, data = outer.text.encode(), text.encode()
    line = outer.line + word.line - 1
    for start in (outer.span[0] + 1, outer.span[0]):  # behind a quote, or a here-document
        if not outer.file and data[start : start + len(quoted)] == quoted:
            return replace(word, line=line, span=(start + word.span[0], start + word.span[1]), file="")
    return replace(word, line=line, span=outer.span, file=outer.file)
