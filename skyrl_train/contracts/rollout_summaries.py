"""Summaries of stored rollouts, read from files of transcripts without their tokens and texts.

A file may be large and may still grow. It is read line by line, and the place of each line is kept, so that a reader comes
back to one rollout, or goes on where it stopped.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from skyrl_train.contracts import bounded
from skyrl_train.contracts.agent.finish import MASKED
from skyrl_train.contracts.typed import FormatError, parse_object

ROLLOUTS = "rollouts"
"""The directory of transcripts in a job directory, unless trainer.rollout_dir names another."""
LONGEST_LINE = 64 << 20
MOST_FILES = 20_000
MOST_LETTERS = 400
_STEP = re.compile(r"step_(\d{1,12})\.jsonl$")
_RESOLVED = "config.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """One rollout. `why` is the reason for its reward, or for having none; `masked`: it is not trained on."""

    rollout: str
    task: str
    finish: str
    detail: str = ""
    reward: float | None = None
    why: str = ""
    masked: bool = False
    turns: int = 0
    prompt: int = 0
    written: int = 0
    read: int = 0
    call_errors: int = 0
    reply_s: float = 0.0
    command_s: float = 0.0
    duration_s: float = 0.0
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file of transcripts."""

    offset: int
    length: int


def directory_of(job_dir: str) -> str:
    """The directory of a job's transcripts. Any other directory is taken for one of transcripts itself."""
    own = os.path.join(job_dir, ROLLOUTS)
    if os.path.isdir(own):
        return own
    try:
        resolved = parse_object(bounded.read_bytes(os.path.join(job_dir, _RESOLVED)), _RESOLVED)
        named = resolved.inner("trainer").value("rollout_dir")
    except (OSError, FormatError):
        return job_dir
    return named if isinstance(named, str) and named else own


def files_in(directory: str) -> list[str]:
    """The files of transcripts in a directory, the earliest step first; or the file itself. OSError if it is unreadable."""
    if os.path.isfile(directory):
        return [directory]
    names = [name for name in os.listdir(directory) if _STEP.search(name)]
    return [os.path.join(directory, name) for name in sorted(names, key=lambda name: (step_of(name) or 0, name))][
        :MOST_FILES
    ]


def step_of(path: str) -> int | None:
    """The training step whose rollouts a file holds; None where its name has none."""
    found = _STEP.search(path)
    return int(found[1]) if found else None


def read(path: str, start: int = 0) -> Iterator[tuple[Place, Summary | None]]:
    """The complete lines from an offset on; None for a line that is no transcript or is too long. OSError as for opening."""
    with bounded.open_file(path) as file:
        file.seek(start)
        while line := file.readline(LONGEST_LINE + 1):
            rest = 0 if line.endswith(b"\n") else _skip_line(file)
            if rest is None:
                return  # it is still being written
            yield Place(start, len(line) + rest), None if rest else summary_of_line(line)
            start += len(line) + rest


def _skip_line(file: BinaryIO) -> int | None:
    """Reads to the end of a line; the number of bytes, or None if the file ends before."""
    length = 0
    while piece := file.readline(LONGEST_LINE):
        length += len(piece)
        if piece.endswith(b"\n"):
            return length
    return None


def summary_of_line(line: bytes | str) -> Summary | None:
    """The summary of a stored transcript; None for any other text."""
    try:
        return _summary(json.loads(line))
    except (ValueError, RecursionError, OverflowError, TypeError, KeyError, AttributeError):
        return None


def _summary(stored: Mapping[str, Any]) -> Summary:
    steps, score, finish = stored["steps"], stored.get("score"), str(stored["finish"])
    reward = score.get("reward") if score is not None else None
    why = (
        "" if score is None else score.get("why") or f"{score.get('reason') or ''} {score.get('detail') or ''}".strip()
    )
    calls = [step["call"] for step in steps]
    return Summary(
        rollout=_short(stored["rollout_id"]),
        task=_short(stored["task_id"]),
        finish=_short(finish),
        detail=_short(stored.get("detail", "")),
        reward=None if reward is None else float(reward),
        why=_short(why),
        masked=finish in MASKED or not steps or (score is not None and reward is None),
        turns=len(steps),
        prompt=len(stored["prompt_ids"]),
        written=sum(len(step["reply"]["token_ids"]) for step in steps),
        read=sum(len(step.get("shown_ids", ())) for step in steps),
        call_errors=sum("kind" in call for call in calls),
        reply_s=sum(float(step.get("reply_s", 0.0)) for step in steps),
        command_s=sum(float(step.get("command_s", 0.0)) for step in steps),
        duration_s=float(stored.get("duration_s", 0.0)),
        tools=tuple(sorted({_short(call["name"])[:40] for call in calls if "name" in call}))[:20],
    )


def _short(text: object) -> str:
    return str(text)[:MOST_LETTERS]
