"""Reads a start of a prime-rl program: `uv run rl @ run.toml --max-steps 20`."""

import dataclasses
import re
from collections.abc import Iterator, Sequence

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.core.model import Location
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.plan.dialects import prime
from skyrl_doctor.plan.dialects.reading import Reading, own_values
from skyrl_doctor.plan.launches import Launch
from skyrl_doctor.plan.model import Value
from skyrl_doctor.plan.schemas.packages import PRIME
from skyrl_doctor.plan.source import Source, folders_above, read_source
from skyrl_doctor.plan.stray_words import stray_words
from skyrl_doctor.plan.syntax.shell import Script
from skyrl_doctor.plan.syntax.shell_values import Word
from skyrl_doctor.plan.syntax.toml import leaves
from skyrl_doctor.plan.syntax.yaml import scalar

_OPTION = re.compile(r"--(?P<key>[A-Za-z][\w-]*(?:\.[\w-]+)*)(?:=(?P<value>.*))?", re.DOTALL)


def program_of(launch: Launch) -> str | None:
    """The program of prime-rl that a launch starts with a file, or None."""
    if not any(word.text.startswith("@") for word in launch.words):
        return None
    name = launch.name.rpartition("/")[2].removesuffix(".py").rpartition(".")[2].replace("_", "-")
    return name if name in PRIME.classes else None


def read(machine: Machine, source: Source, script: Script, launch: Launch, program: str) -> Reading:
    """The configuration that the files and options of the launch make together. Raises UsageError."""
    files = tuple(_files(machine, source, launch))
    own: dict[str, Value] = {}
    for file in files:
        own |= own_values(leaves(file), file.file)
    own |= {value.key: value for value in _options(launch.words, source.file)}
    reading = prime.read_values(machine, files[-1].file, own, program)
    strays = stray_words(script, source, "prime-rl", launch.at)
    return dataclasses.replace(reading, problems=(*reading.problems, *strays))


def _files(machine: Machine, source: Source, launch: Launch) -> Iterator[Source]:
    """The files after `@`, from the working directory or a directory above the script."""
    words = launch.words
    for at, word in enumerate(words):
        if not word.text.startswith("@"):
            continue
        found = words[at + 1] if word.text == "@" and at + 1 < len(words) else word
        path = found.text.removeprefix("@")
        if found.unknown:
            raise UsageError(
                f"target {word.file or source.file}: line {word.line}: the file of {launch.name} is unknown: {found.unknown}"
            )
        yield _opened(machine, source, path, found)


def _opened(machine: Machine, source: Source, path: str, word: Word) -> Source:
    places = (
        [path]
        if path.startswith("/")
        else [path, *(f"{folder}/{path}" for folder in folders_above(machine, source.file))]
    )
    for place in places:
        try:
            return read_source(machine, place)
        except UsageError as error:
            if not str(error).endswith("no such file or directory"):
                raise
    raise UsageError(f"target {word.file or source.file}: line {word.line}: cannot find {path}")


def _options(words: Sequence[Word], file: str) -> Iterator[Value]:
    """`--model.name X` as the key `model.name`. An option without a value is true."""
    for at, word in enumerate(words):
        found = _OPTION.fullmatch(word.text)
        if found is None:
            continue
        after = words[at + 1] if at + 1 < len(words) else None
        key, text, unknown = found["key"].replace("-", "_"), found["value"], word.unknown
        if text is None:
            is_flag = after is None or after.text.startswith(("--", "@"))
            text, unknown = ("true", "") if is_flag or after is None else (after.text, after.unknown)
        yield Value(
            key,
            text if unknown else _scalar(text),
            Location(word.file or file, word.line, key),
            own=key,
            unknown=unknown,
        )


def _scalar(text: str) -> object:
    try:
        return scalar(text)
    except ValueError:
        return text
