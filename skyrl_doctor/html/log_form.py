"""Tells whether a file has the form of a log: what its first lines are, and what a diagnosis found in it."""

import json
import re

from skyrl_doctor.logs.cause.root_cause import Diagnosis
from skyrl_doctor.logs.read.contents import read_chunks
from skyrl_doctor.logs.read.levels import parse_header

LIMIT_BYTES = 1 << 18
LIMIT_LINES, LIMIT_WIDTH = 2000, 2000
_LOG_KEYS = frozenset(
    (
        "level",
        "levelname",
        "lvl",
        "severity",
        "msg",
        "message",
        "time",
        "ts",
        "timestamp",
        "@timestamp",
        "asctime",
        "event",
        "error",
    )
)
"""Keys of a record that a logger wrote as JSON."""
_SIGN = re.compile(
    r"\b\d{1,2}:\d\d:\d\d\b"  # a clock
    r"|\d%\|"  # a progress bar
    r"|\b(?:epoch|step|iteration|loss|reward|time|lr|learning_rate|grad_norm)['\"]?(?:: | ?= ?| )-?\d"  # a figure of training
    r"|\.py:\d{1,6}: \w*Warning\b"
    r"|\b(?:GET|POST) /\S|\b[45]\d\d (?:Client|Server) Error\b"
    r"|\b(?:PASSED|FAILED)$"
    r"|\((?:[A-Za-z_]\w*[ :,]{1,2})*(?:pid|ip|rank)[=:]"  # Ray and others before a line of a worker
    r"|^\[?rank:? ?\d"
    r"|^\++ \S"  # a shell with `set -x`
    r"|^(?:skyrl-doctor \w+|skyrl-train \w+|wandb|srun|sbatch|slurmstepd|slurmd|bash|sh|torchrun|nvcc|pip|uv)(?:: |\[)"
    r"|^[\w./-]+: line \d+: "
    r"|^Traceback \(most recent call last\)",
    re.ASCII,
)


def is_log(file: str, diagnosis: Diagnosis) -> bool:
    """Whether the file is a log. One without an error or a step is known by a line that only a program prints."""
    lines = _first_lines(file)
    if lines and lines[0].startswith('{"'):
        return any(map(_is_record, lines)) or diagnosis.has_steps
    return _has_evidence(diagnosis) or any(map(_is_printed, lines))


def _first_lines(file: str) -> list[str]:
    """The first lines with text. The last one may be cut off."""
    data = b""
    try:
        for chunk in read_chunks(file):
            data += chunk
            if len(data) >= LIMIT_BYTES:
                break
    except OSError:  # of a compressed file that is cut off, the part before that
        pass
    text = data[:LIMIT_BYTES].decode("utf-8", "replace")
    return [line for line in re.split(r"[\r\n]+", text) if line.strip()][:LIMIT_LINES]


def _is_record(line: str) -> bool:
    """Whether the line is a record of a logger as JSON, or no JSON, but a line that a program printed."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return not line.startswith("{") and _is_printed(line)
    return isinstance(data, dict) and not _LOG_KEYS.isdisjoint(str(key).lower() for key in data)


def _has_evidence(diagnosis: Diagnosis) -> bool:
    """Whether the diagnosis found anything that a program printed."""
    found = (diagnosis.matches, diagnosis.unknown, diagnosis.tolerated, diagnosis.done, diagnosis.stopped)
    return any(found) or diagnosis.has_steps or bool(diagnosis.dialect or diagnosis.parts or diagnosis.earlier)


def _is_printed(line: str) -> bool:
    line = line[:LIMIT_WIDTH]
    return parse_header(line).level is not None or _SIGN.search(line) is not None
