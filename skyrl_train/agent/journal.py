"""Stores transcripts in files, one line of JSON each, so that a killed run loses at most the last line."""

import itertools
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from skyrl_train.contracts import bounded
from skyrl_train.contracts.agent.transcript import Transcript
from skyrl_train.contracts.payloads import from_json, to_json


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A line that is not a transcript, and why."""

    line: int
    why: str


def append(path: Path, transcript: Transcript) -> None:
    """Appends a transcript in one write, so that several processes can share the file."""
    line = (to_json(transcript) + "\n").encode("utf-8", "replace")
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    try:
        while line:
            line = line[os.write(handle, line) :]
    finally:
        os.close(handle)


MAX_LINE = 512 * 1024 * 1024
"""The longest line. A longer one is not a transcript and would not fit into memory."""


def read(path: Path) -> Iterator[Transcript | Unreadable]:
    """Yields the transcript or the fault of each line. Stops after a line that is too long."""
    with bounded.open_file(path) as lines:
        for number in itertools.count(1):
            line = lines.readline(MAX_LINE + 1)
            if not line:
                return
            if len(line) > MAX_LINE:
                yield Unreadable(
                    number, f"longer than {MAX_LINE // 1024 // 1024} MiB; the rest of the file was skipped"
                )
                return
            yield _read_line(number, line)


def _read_line(number: int, line: bytes) -> Transcript | Unreadable:
    try:
        return from_json(Transcript, line.decode("utf-8", "replace"))
    except json.JSONDecodeError as error:
        cut = "" if line.endswith(b"\n") else "; the file ends within the line"
        return Unreadable(number, f"not valid JSON: {error}{cut}")
    except (ValueError, RecursionError) as error:
        return Unreadable(number, " ".join(" ".join(str(error).splitlines()[:3]).split())[:300])
