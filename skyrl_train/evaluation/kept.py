"""The directory of an evaluation: what is evaluated, and each rollout that has ended. It can be resumed at any moment.

OUT/
├── evaluation.json    model, tasks, sampling and limits, written first; an evaluation of something else is refused
├── rollouts.jsonl     transcripts, for `skyrl-train show`; the last one of a rollout counts
└── report.json        written at the end
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from skyrl_train.agent import journal
from skyrl_train.contracts import bounded
from skyrl_train.contracts.agent.transcript import Transcript
from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.files import append_line, write_whole
from skyrl_train.contracts.typed import FormatError, parse_object

SUBJECT, ROLLOUTS, REPORT = "evaluation.json", "rollouts.jsonl", "report.json"

Subject = Mapping[str, object]
"""What is evaluated and how. Two evaluations with equal subjects are one."""


class Kept:
    """The rollouts of an evaluation, in memory and on disk."""

    def __init__(self, directory: Path, subject: Subject) -> None:
        """Opens or makes the directory. UsageError if it belongs to another evaluation."""
        self._directory = directory
        self.done: dict[str, Transcript] = {}
        self.unreadable = 0
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / SUBJECT
        if not path.exists():
            write_whole(str(path), json.dumps(subject, indent=2, sort_keys=True) + "\n")
        else:
            _refuse_another(path, subject)
        self._read()

    def add(self, transcript: Transcript) -> None:
        journal.append(self._directory / ROLLOUTS, transcript)
        self.done[transcript.rollout_id] = transcript

    def write_report(self, report: Mapping[str, object]) -> Path:
        path = self._directory / REPORT
        write_whole(str(path), json.dumps(report, indent=2) + "\n")
        return path

    def _read(self) -> None:
        path = self._directory / ROLLOUTS
        if not path.exists():
            return
        _end_last_line(path)
        for found in journal.read(path):
            if isinstance(found, Transcript):
                self.done[found.rollout_id] = found
            else:
                self.unreadable += 1  # an earlier run was killed while it wrote


def _refuse_another(path: Path, subject: Subject) -> None:
    try:
        kept = parse_object(bounded.read_text(str(path)), str(path))
    except (OSError, FormatError) as error:
        raise UsageError(f"{path} cannot be read: {error}; name a new directory with --out") from None
    wanted = json.loads(json.dumps(subject))
    for name in sorted({*kept, *wanted}):
        if kept.value(name) != wanted.get(name):
            raise UsageError(
                f"{path.parent} holds an evaluation with another {name} ({_short(kept.value(name))}, now "
                f"{_short(wanted.get(name))}); name a new directory with --out"
            )


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _end_last_line(path: Path) -> None:
    """Ends a line that a kill has cut, so that the next transcript begins a line of its own."""
    with bounded.open_file(path) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 1))
        whole = not size or file.read(1) == b"\n"
    if not whole:
        append_line(str(path), "\n")
