"""Transcripts in files: one line of JSON each, so that a run that dies loses at most the line that it was writing."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from skyrl_train.agent.transcript import Transcript
from skyrl_train.payloads import from_json, to_json


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A line that holds no transcript."""

    line: int
    why: str


def append(path: Path, transcript: Transcript) -> None:
    """Adds a line in one write, so that several processes may share the file."""
    line = (to_json(transcript) + "\n").encode()
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        while line:
            line = line[os.write(handle, line) :]
    finally:
        os.close(handle)


def read(path: Path) -> Iterator[Transcript | Unreadable]:
    """Each line of a journal, the broken ones as what they are."""
    with path.open(encoding="utf-8", errors="replace", newline="\n") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                yield from_json(Transcript, line)
            except (ValueError, RecursionError) as error:
                yield Unreadable(number, str(error).splitlines()[0])
