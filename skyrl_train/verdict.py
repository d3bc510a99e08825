"""The stored result of the gate: a passing gate writes it, the trainer requires it.

It is valid for one configuration on one node for a limited time.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from skyrl_train.files import write_whole

FILE = "verdict.json"
SCHEMA = 1
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
        found: Any = json.loads(text)
        seen_hash, seen_node, expires_at = str(found["config_sha256"]), str(found["node"]), float(found["expires_at"])
        schema = found["schema"]
    except (ValueError, KeyError, TypeError) as error:
        return f"{FILE} is damaged ({error!r}): run the gate again"
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
