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
from skyrl_doctor.plan.model import Plan, Value
from skyrl_doctor.report.lines import finding_text, location_text

REFUSALS = frozenset(("CFG004", "CFG030"))
"""Failures whose log line names a key that the program refuses."""
UPDATE_MEMORY = "MEM002"
DYNAMIC, TOKENS = "actor.dynamic_batch_size", "actor.max_tokens_per_gpu"
MICRO_BATCH = "actor.micro_batch_size_per_gpu"
PROMPT, RESPONSE = "data.max_prompt_tokens", "data.max_response_tokens"
KEY_GROUPS = ("full", "key", "argument", "name", "required", "option")
TOML_DIALECTS = ("run-config", "prime-rl", "prime-rl-2025", "prime-rl-part")
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


def with_fitting_remedy(diagnosis: Diagnosis, plan: Plan) -> Diagnosis:
    """The diagnosis whose remedy names the setting that this run uses, with its place and a value: for an update out of memory."""
    root = diagnosis.root
    change = _smaller_update(plan) if root is not None and root.failure.id == UPDATE_MEMORY else ""
    if root is None or not change:
        return diagnosis
    signature = root.failure.signature
    rest = signature.remedy.partition(". ")[2]
    own = dataclasses.replace(signature, remedy=f"{change} {rest}".strip())
    failure = dataclasses.replace(root.failure, signature=own)
    return dataclasses.replace(diagnosis, root=dataclasses.replace(root, failure=failure))


def _smaller_update(plan: Plan) -> str:
    """Which setting makes the micro batches of this run smaller; empty where the configuration does not tell."""
    try:
        is_dynamic = plan.flag(DYNAMIC)
        key = TOKENS if is_dynamic else MICRO_BATCH
        now, longest = plan.integer(key), (plan.integer(PROMPT) or 0) + (plan.integer(RESPONSE) or 0)
    except CouldNotLook:
        return ""
    if not now:
        return ""
    place, name = _place(plan, key), f"`{plan.name(key)}`"
    if is_dynamic and now > longest:
        return f"This run uses dynamic batches: lower {name} from {now} to {max(now // 2, longest)}{place}."
    if is_dynamic:
        return f"This run uses dynamic batches, and {name} = {now}{place} is as small as one sequence of {longest} tokens allows: shorten `{plan.name(RESPONSE)}`."
    if now > 1:
        return f"Lower {name} from {now} to {now // 2}{place}."
    return f"{name} is 1 already{place}: shorten `{plan.name(RESPONSE)}`, or spread each sequence over more GPUs."


def _place(plan: Plan, key: str) -> str:
    value = plan.find(key)
    if value is None or value.location is None:
        return ""
    return f" ({location_text(dataclasses.replace(value.location, key=None))})"


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
            yield f"{_as_written(value, plan)}{place}"


def _as_written(value: Value, plan: Plan) -> str:
    """`key = value`, a truth value as the user's language writes it."""
    if isinstance(value.value, bool) and plan.is_of(*TOML_DIALECTS):
        return value.assignment.replace(f" = {value.value}", f" = {str(value.value).lower()}", 1)
    return value.assignment
