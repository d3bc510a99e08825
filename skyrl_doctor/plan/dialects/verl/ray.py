"""Which Ray cluster a call of verl gets, as far as its script shows it: its own of this node, or one that it joins."""

import re
from collections.abc import Iterator

from skyrl_doctor.core.model import Location
from skyrl_doctor.plan.dialects.verl.command import Call
from skyrl_doctor.plan.dialects.verl.sbatch import job_lines
from skyrl_doctor.plan.keys import STARTS_RAY
from skyrl_doctor.plan.launches import launches
from skyrl_doctor.plan.model import Value
from skyrl_doctor.plan.source import Source
from skyrl_doctor.plan.syntax.shell import Script
from skyrl_doctor.plan.syntax.shell_values import Word

VISIBLE = "CUDA_VISIBLE_DEVICES"
_ADDRESS = "RAY_ADDRESS"
_CLUSTER = re.compile(
    r"\bray[\"']?[\s,]+(?:start|job|up|symmetric-run)\b|\bray_init\.address\b|\b(?:RAY_ADDRESS|ray_start|start_ray)\b"
)


def ray_values(script: Script, call: Call, source: Source) -> Iterator[Value]:
    """The GPUs that the script shows to a cluster of this node, and whether a job starts a cluster."""
    texts = (source.text, *(word.text for command in script.commands for word in command.words))
    has_cluster = any(map(_CLUSTER.search, texts)) or _ADDRESS in script.exported
    visible = call.environment.get(VISIBLE) or _exported(script, VISIBLE)
    if visible is not None and not has_cluster:
        place = Location(visible.file or source.file, visible.line, VISIBLE)
        yield Value(VISIBLE, visible.text, place, own=VISIBLE, unknown=visible.unknown)
    if any(job_lines(script, call.job)):
        reads_all = not script.sourced and not any(launch.script for launch in launches(script))
        unknown = "" if has_cluster or reads_all else "the script starts others that cannot be read"
        place = Location(call.place, call.line, STARTS_RAY)
        yield Value(STARTS_RAY, has_cluster, place, written=False, own=STARTS_RAY, unknown=unknown)


def _exported(script: Script, name: str) -> Word | None:
    found = script.variables.get(name) if name in script.exported else None
    return found.words[0] if found is not None and len(found.words) == 1 else None
