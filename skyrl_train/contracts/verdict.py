"""The stored result of the gate: a passing gate writes it, the trainer requires it.

It is valid for one configuration on one node for a limited time.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from skyrl_train.contracts.files import write_whole
from skyrl_train.contracts.typed import FormatError, parse_object

FILE = "verdict.json"
SCHEMA = 1
_MOST_BYTES = 4 << 20
LIFETIME_S = 3600.0
"""After this time between gate and start, the gate must run again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The result of a gate. Times are seconds since the epoch."""

    config_sha256: str
    node: str
    role: str
    gpus: tuple[str, ...]
    versions: Mapping[str, str]
    outcomes: Mapping[str, str]
    unknown_allowed: bool
    written_at: float
    expires_at: float


def config_hash(texts: Sequence[bytes]) -> str:
    """One hash of all files of a configuration, in order."""
    total = hashlib.sha256()
    for text in texts:
        total.update(hashlib.sha256(text).digest())
    return total.hexdigest()


def to_json(verdict: Verdict) -> str:
    return json.dumps({"schema": SCHEMA, **asdict(verdict)}, indent=2, sort_keys=True) + "\n"


def refusal(text: str | None, *, config_sha256: str, node: str, now: float) -> str | None:
    """Why this verdict does not allow the trainer to start, or None if it does."""
    if text is None:
        return f"there is no {FILE} in the job directory: the gate has not passed (skyrl-doctor gate)"
    try:
        found = parse_object(text, FILE, most_bytes=_MOST_BYTES)
        seen_hash, seen_node = found.text("config_sha256"), found.text("node")
        expires_at, schema = found.number("expires_at"), found.integer("schema")
    except FormatError as error:
        return f"{FILE} is damaged ({error}): run the gate again"
    if schema != SCHEMA:
        return f"{FILE} has schema {schema}, expected {SCHEMA}: run the gate of this version"
    if seen_hash != config_sha256:
        return f"{FILE} is for another configuration (sha256 {seen_hash[:12]}…, this one is {config_sha256[:12]}…)"
    if seen_node != node:
        return f"{FILE} is for node {seen_node}, this is {node}"
    if now >= expires_at:
        return f"{FILE} expired {now - expires_at:.0f} s ago: run the gate again"
    return None


def write(directory: str, verdict: Verdict) -> str:
    """Writes verdict.json atomically; its path."""
    path = os.path.join(directory, FILE)
    write_whole(path, to_json(verdict))
    return path
