"""Finds the calls of verl's trainers in a shell script, with interpreter, Hydra's options and overrides."""

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from skyrl_doctor.core.model import Location
from skyrl_doctor.plan.dialects.verl.compose import Given
from skyrl_doctor.plan.dialects.verl.entry_points import EntryPoint, entry_point
from skyrl_doctor.plan.syntax.shell import Command, Script
from skyrl_doctor.plan.syntax.shell_script import Job
from skyrl_doctor.plan.syntax.shell_values import Piece, Word

_OPTIONS = {
    "--config-path": "path",
    "-cp": "path",
    "--config-name": "name",
    "-cn": "name",
    "--config-dir": "folder",
    "-cd": "folder",
    "--package": "",
    "-p": "",
    "--experimental-rerun": "",
}
"""Hydra's options that take a value."""
_PRINTS = ("--cfg", "-c", "--help", "-h", "--hydra-help", "--info", "-i", "--version", "--resolve")
"""With these options Hydra prints something and does not run."""
_SRUN = re.compile(r"(?:--ntasks|--ntasks-per-node|--nodes)(?:=(?P<value>.*))?|-[nN](?P<short>\d*)")
"""Options with which srun starts its own number of tasks."""
_SOME_NODES = ("-w", "--nodelist", "-x", "--exclude", "-r", "--relative")
"""Options with which srun may use fewer nodes than the job has."""
_WORLD = {
    "--nproc_per_node": "slurm.gpus_per_node",
    "--nproc-per-node": "slurm.gpus_per_node",
    "--nnodes": "slurm.nodes",
}
"""What torchrun's options set: one process a GPU."""


@dataclass(slots=True)
class Call:
    """One call of a trainer. `options` are Hydra's own, by what they name: path, name or folder of the configuration."""

    file: str
    line: int
    launcher: str
    interpreter: str | None
    entry: EntryPoint
    overrides: tuple[Given, ...] = ()
    options: dict[str, Given] = field(default_factory=dict)
    world: dict[str, Given] = field(default_factory=dict)
    job: Job | None = None
    environment: Mapping[str, Word] = field(default_factory=dict)
    """The variables that only this call gets."""
    written: Mapping[str, str] = field(default_factory=dict)
    """The files that the script writes before it starts the call, by path."""
    srun: int | None = None
    """How many tasks srun starts: its own number, or 0 for that of the job; None without srun, or if it is unknown."""
    at: int = 0
    """The number of its command in the script."""
    inner_file: str = ""
    """The file that holds the call, if the target starts or sources it."""

    @property
    def place(self) -> str:
        """The file that holds the call."""
        return self.inner_file or self.file

    @property
    def config_name(self) -> str | None:
        given = self.options.get("name")
        return None if given is None else given.text.removesuffix(".yaml")

    def without_values(self) -> "Call":
        """The same call with its choices of groups alone: the overrides whose key has no dot."""
        chosen = tuple(given for given in self.overrides if "." not in given.text.partition("=")[0].partition("@")[0])
        return dataclasses.replace(self, overrides=chosen)


def calls(script: Script, file: str) -> list[Call]:
    """Every call of a trainer that the script makes, in order."""
    made = (
        _call(command, found, file, script, at)
        for at, command in enumerate(script.commands)
        if (found := entry_point([word.text for word in command.words])) is not None
    )
    return [call for call in made if call is not None]


def _call(command: Command, entry: EntryPoint, file: str, script: Script, at: int) -> Call | None:
    """The call; None if it only prints."""
    before = command.words[: entry.at]
    texts = [word.text for word in before]
    python = next((text for text in reversed(texts) if "python" in text.rpartition("/")[2]), None)
    made = Call(
        file=file,
        line=command.line,
        launcher="uv run" if _is_uv(texts) else "python",
        interpreter=python if python and "/" in python else None,
        entry=entry,
        world=_world(before, file),
        job=command.job,
        environment=dict(_own_variables(command, before)),
        written=script.written,
        srun=_srun_tasks(before),
        inner_file=command.file,
        at=at,
    )
    return made if _take(made, command.words[entry.at + 1 :]) else None


def call_of(module: str, words: Sequence[Word], file: str) -> Call | None:
    """The call of another program that reads Hydra's words; None if it only prints."""
    line = words[0].line if words else 1
    made = Call(file=file, line=line, launcher="python", interpreter=None, entry=EntryPoint(module, 0))
    return made if _take(made, words) else None


def _take(call: Call, words: Sequence[Word]) -> bool:
    """Gives a call the words after its program: options and overrides. Whether it runs, rather than prints."""
    given: list[Given] = []
    rest = iter(words)
    for word in rest:
        name, equals, value = word.text.partition("=")
        if name in _PRINTS:
            return False
        if name in _OPTIONS:
            named = _given(word, call.file, value) if equals else _given(next(rest, word), call.file)
            call.options[_OPTIONS[name]] = named
        elif not word.text.startswith("-"):
            given.append(_given(word, call.file))
    call.overrides = tuple(given)
    return True


def _given(word: Word, file: str, text: str | None = None) -> Given:
    return Given(
        word.text if text is None else text, Location(word.file or file, word.line, None), word.unknown, word.span
    )


def _own_variables(command: Command, before: tuple[Word, ...]) -> Iterator[tuple[str, Word]]:
    """`A=1 python …`, `env A=1 python …`."""
    for name, variable in command.environment.items():
        if variable.words:
            yield name, variable.words[0]
    for word in before:
        name, equals, value = word.text.partition("=")
        if equals and name.isidentifier():
            yield name, replace(word, pieces=(Piece(value, word.unknown),))


def _world(words: tuple[Word, ...], file: str) -> dict[str, Given]:
    """The number of processes and nodes that torchrun gets."""
    found: dict[str, Given] = {}
    for word, after in zip_longest(words, words[1:]):
        name, equals, value = word.text.partition("=")
        if name in _WORLD and (equals or after is not None):
            found[_WORLD[name]] = _given(word, file, value) if equals or after is None else _given(after, file)
    return found


def _srun_tasks(words: tuple[Word, ...]) -> int | None:
    """The number of tasks that srun's own options set, 0 if they set none, None without srun or with an unknown word."""
    at = next((at for at, word in enumerate(words) if word.text.rpartition("/")[2] == "srun"), None)
    if at is None or any(word.unknown for word in words[at:]):
        return None
    texts = [word.text for word in words[at + 1 :]]
    for text, after in zip(texts, (*texts[1:], ""), strict=True):
        found = _SRUN.fullmatch(text)
        if found is not None:
            count = found["value"] or found["short"] or after
            return int(count) if count.isdigit() and len(count) < 10 else None
    return None if any(text.startswith(_SOME_NODES) for text in texts) else 0


def _is_uv(before: list[str]) -> bool:
    names = [text.rpartition("/")[2] for text in before]
    return any(name == "uv" and names[index + 1 : index + 2] == ["run"] for index, name in enumerate(names))
