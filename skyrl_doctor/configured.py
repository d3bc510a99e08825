"""What the run's configuration says about a failure that its log shows: for `diagnose` and `report`."""

import dataclasses
import re
from collections.abc import Iterator

from skyrl_doctor.core.engine import examine
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding
from skyrl_doctor.core.record import record
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.examination import Context, Options, prepare
from skyrl_doctor.logs.cause.root_cause import Diagnosis
from skyrl_doctor.logs.judge.hits import Hit
from skyrl_doctor.logs.sentences import values
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.report.lines import finding_text, location_text

REFUSALS = frozenset(("CFG004", "CFG030"))
"""Failures whose log line names a key that the program refuses."""
KEY_GROUPS = ("full", "key", "argument", "name", "required", "option")
MOST_PLACES, MOST_LETTERS = 5, 160


@record
class Configured:
    """The configuration, and lines about the failure: findings of its check, or else its settings."""

    plan: Plan
    lines: tuple[str, ...]


def read_configured(machine: Machine, files: list[str], diagnosis: Diagnosis) -> Configured:
    """Judge the configuration by the check of the root cause. Raises UsageError where a file cannot be read."""
    options = Options(targets=tuple(files), structure_only=True)
    context = prepare(machine, machine, options)
    root = diagnosis.root
    if root is None:
        return Configured(context.plan, ())
    found = [
        line for finding in _findings(context, options, root.failure.id) for line in finding_text(finding).split("\n")
    ]
    refused = _refused(machine, files, root)
    return Configured(context.plan, tuple(found or refused or _settings(context.plan, root.failure.signature)))


def _refused(machine: Machine, files: list[str], root: Hit) -> tuple[str, ...]:
    """The lines of the configuration that hold the key that the log says is refused."""
    if root.failure.id not in REFUSALS:
        return ()
    named = values(root)
    key = next((text.strip("'\"-+[]") for group in KEY_GROUPS if (text := named.get(group))), "")
    if not key:
        return ()
    places = [
        place for text in dict.fromkeys((key, key.rpartition(".")[2])) for place in _lines_with(machine, files, text)
    ]
    return tuple(dict.fromkeys(places))[:MOST_PLACES]


def _lines_with(machine: Machine, files: list[str], key: str) -> Iterator[str]:
    """The lines that hold a key as a whole word, with their places."""
    word = re.compile(rf"(?<![\w.]){re.escape(key)}(?![\w.])" if "." in key else rf"(?<!\w){re.escape(key)}\s*[=:]")
    for file in files:
        try:
            text = machine.read_bytes(file).decode("utf-8", "replace")
        except CouldNotLook:
            continue
        for number, line in enumerate(text.splitlines(), start=1):
            if word.search(line):
                clipped = " ".join(line.split())[:MOST_LETTERS]
                yield f"{file}:{number}: {clipped}"


def _findings(context: Context, options: Options, id_: str | None) -> Iterator[Finding]:
    chosen = [check for check in context.checks if check.id == id_]
    for outcome in examine(chosen, context.gathering(options)) if chosen else ():
        yield from outcome.findings


def _settings(plan: Plan, signature: Signature) -> Iterator[str]:
    for key in signature.keys:
        try:
            value = plan.find(key)
        except CouldNotLook as unread:
            yield str(unread)
            continue
        if value is not None:
            place = f" ({location_text(dataclasses.replace(value.location, key=None))})" if value.location else ""
            yield f"{value.assignment}{place}"
