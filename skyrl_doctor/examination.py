"""Runs one examination: reads the plan, selects and runs the checks, applies waivers, returns the report."""

import contextlib
import dataclasses
import functools
import sys
import time
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import UTC, date, datetime
from typing import Any, TypeVar

from skyrl_doctor import inventory
from skyrl_doctor.ahead import ask_ahead
from skyrl_doctor.catalogue import catalogue
from skyrl_doctor.core.check import Check
from skyrl_doctor.core.engine import Observer, examine, silent
from skyrl_doctor.core.errors import CouldNotLook, UsageError
from skyrl_doctor.core.gather import FactResult, Gathering, needing
from skyrl_doctor.core.model import Role, Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.core.registry import Registry, discover
from skyrl_doctor.core.select import Selection, select
from skyrl_doctor.core.time_limit import call_within
from skyrl_doctor.core.waivers import Waiver, apply, notes, parse
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.iterations import over_iterations
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.machine.redact import Redactor, secrets_of
from skyrl_doctor.machine.remembered import RememberedMachine
from skyrl_doctor.machine.secret_names import is_secret_key
from skyrl_doctor.plan.dialects.reading import Reading
from skyrl_doctor.plan.groups import ambiguous
from skyrl_doctor.plan.load import load, read_target, runs_of
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.report.model import Batch, Refusal, Report
from skyrl_doctor.roles import guess_roles
from skyrl_doctor.structure_only import config_only
from skyrl_train.contracts.version import VERSION

T = TypeVar("T")
READ_LIMIT_S = 5.0
MOMENT_S = 0.25
REPORTING_S = 0.4
"""Time reserved for ending open probes and writing the report."""
DEFAULT_DEADLINE_S = 30.0


@record(kw_only=True)
class Options:
    """The options of an examination."""

    targets: tuple[str, ...] = ()
    roles: frozenset[Role] | None = None
    selected: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    waiver_file: str | None = None
    settings_file: str | None = None
    fail_on: Severity = Severity.ERROR
    deadline_s: float = DEFAULT_DEADLINE_S
    structure_only: bool = False
    verl_version: str | None = None
    """The release of verl to judge by, from --verl-version."""
    is_one_of_many: bool = False
    """Whether this is one node of --nodes, whose report is compared with the others."""
    started: float = field(default_factory=time.monotonic)
    """When the command started, by the monotonic clock."""

    @property
    def probes_end(self) -> float:
        """When probing must end, so that the report is written before the deadline."""
        return self.started + self.deadline_s - min(REPORTING_S, 0.3 * self.deadline_s)

    @property
    def reading_s(self) -> float:
        """Seconds for reading files before the checks. Never zero, because a small file takes almost no time."""
        return max(MOMENT_S, min(READ_LIMIT_S, self.probes_end - time.monotonic()))


@record
class Context:
    """The inputs of an examination, of `fix` and of `env`."""

    machine: Machine
    registry: Registry
    plan: Plan
    roles: Roles
    checks: tuple[Check, ...]
    absent: dict[type, None]
    """Optional facts that --structure-only does not gather."""

    def gathering(self, options: Options, known: Mapping[type, FactResult] | None = None) -> Gathering:
        """The facts of this machine. Each is gathered when a check needs it, unless it is known already."""
        preset: dict[type, object] = {Machine: self.machine, Plan: self.plan, Roles: self.roles, **self.absent}
        left_s = options.probes_end - time.monotonic()
        made = Gathering(self.registry.probes, preset, deadline_s=options.deadline_s, left_s=left_s)
        made.results.update(known or {})
        return made

    def of_machine(self, gathering: Gathering) -> dict[type, FactResult]:
        """The gathered facts that are the same for every plan."""
        of_plan = needing(Plan, self.registry.probes)
        return {kind: found for kind, found in gathering.results.items() if kind not in of_plan}


def prepare(machine: Machine, reader: Machine, options: Options) -> Context:
    """Finds the checks and reads the plan. `reader` reads the targets, which are local even if `machine` is a recording."""
    return _with_plan(_context(machine, options), reader, options)


def _with_plan(context: Context, reader: Machine, options: Options) -> Context:
    plan = _in_time(
        options, lambda: load(reader, options.targets, verl_version=options.verl_version), "reading the target"
    )
    return dataclasses.replace(context, plan=plan)


def _asking(machine: RememberedMachine, options: Options) -> Context:
    """The inputs but for the plan; what takes long on this machine is being asked."""
    context = _context(machine, options)
    if not options.structure_only:
        ask_ahead(machine, context.registry, context.roles, _select(context, options).run, options.deadline_s)
    return context


def _context(machine: Machine, options: Options) -> Context:
    registry = discover()
    if not options.structure_only:
        return Context(machine, registry, Plan(), _roles(machine, options), registry.checks, {})
    if not options.targets:
        raise UsageError("--structure-only checks a configuration; pass a TARGET")
    checks, absent = config_only(registry.checks)
    return Context(machine, registry, Plan(), Roles(frozenset(Role), asked=False), checks, absent)


def _select(context: Context, options: Options) -> Selection:
    return select(
        context.checks,
        wanted=options.selected,
        ignored=options.ignored,
        roles=context.roles.roles,
        left_out=context.registry.checks,
    )


def _roles(machine: Machine, options: Options) -> Roles:
    if options.roles is not None:
        return Roles(options.roles, asked=True)
    try:
        return call_within(options.reading_s, lambda: guess_roles(machine), "guessing the role")
    except CouldNotLook:  # then every check runs and reports UNKNOWN itself
        return Roles(frozenset(Role), asked=False)


def run(machine: Machine, reader: Machine, options: Options, *, observe: Observer = silent) -> Report:
    """Runs the checks and returns the report; ends every process that it started."""
    try:
        with contextlib.redirect_stdout(sys.stderr):  # a check of another package may print; stdout is for the report
            return _run(machine, reader, options, observe)
    finally:
        machine.close()


def run_all(machine: Machine, reader: Machine, options: Options, *, observe: Observer = silent) -> Batch:
    """Examines every run that the targets describe. The facts of the machine are gathered once."""
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return _run_all(RememberedMachine(machine), reader, options, observe)
    finally:
        machine.close()


def _run_all(machine: RememberedMachine, reader: Machine, options: Options, observe: Observer) -> Batch:
    prepared = _asking(machine, options)
    plans, refused = _plans(reader, options)
    reports: list[Report] = []
    facts: dict[type, FactResult] = {}
    for plan in plans:
        context = dataclasses.replace(prepared, plan=plan)
        own = dataclasses.replace(options, targets=plan.targets)
        if reports:  # each run has the time limit for itself
            own = dataclasses.replace(own, started=time.monotonic())
        gathering = context.gathering(own, facts)
        reports.append(_report(context, gathering, reader, own, observe))
        facts = facts or context.of_machine(gathering)
    return Batch(tuple(reports), refused)


def _plans(reader: Machine, options: Options) -> tuple[tuple[Plan, ...], tuple[Refusal, ...]]:
    """The runs of the targets, and the targets that cannot be read. Raises UsageError if none can."""
    readings: list[tuple[str, Reading]] = []
    refused: list[Refusal] = []
    for target in options.targets:
        now = dataclasses.replace(options, started=time.monotonic())
        try:
            readings.append(
                (
                    target,
                    _in_time(
                        now,
                        functools.partial(read_target, reader, target, verl_version=now.verl_version),
                        f"reading {target}",
                    ),
                )
            )
        except UsageError as error:
            if len(options.targets) == 1:
                raise
            refused.append(Refusal(target, str(error)))
    unclear = dict(ambiguous(readings))
    refused += [Refusal(target, reason) for target, reason in unclear.items()]
    redact = Redactor(secrets_of(_or_default(reader.environ, {})))
    clean = tuple(Refusal(redact(one.target), redact(one.reason)) for one in refused)
    return runs_of([one for one in readings if one[0] not in unclear]), clean


def _run(machine: Machine, reader: Machine, options: Options, observe: Observer) -> Report:
    context = _with_plan(_asking(RememberedMachine(machine), options), reader, options)
    return _report(context, context.gathering(options), reader, options, observe)


def _report(context: Context, gathering: Gathering, reader: Machine, options: Options, observe: Observer) -> Report:
    machine = context.machine
    known = {check.id for check in context.registry.checks}
    chosen = _select(context, options)
    if not (chosen.run or chosen.skipped):
        raise UsageError("no check left to run: --ignore removes every check that --select names")
    waivers = _in_time(options, lambda: read_waivers(reader, options, known), "reading the waivers")
    today = today_utc()
    redact = _redactor(machine, context.plan)
    outcomes = over_iterations(
        examine(chosen.run, gathering, redact=redact, observe=observe),
        context.plan.others,
        chosen.run,
        context.roles,
        limit_s=options.deadline_s,
        redact=redact,
    )
    judged = [apply(outcome, waivers, today) for outcome in outcomes]
    return Report(
        outcomes=tuple(sorted((*judged, *chosen.skipped), key=lambda outcome: outcome.id)),
        roles=tuple(sorted(context.roles.roles)),
        targets=context.plan.targets,
        target_names=tuple(map(redact, context.plan.targets)),
        dialect=context.plan.dialect,
        duration_s=time.monotonic() - options.started,
        version=VERSION,
        host=_or_default(lambda: machine.identity().host, "unknown"),
        fail_on=options.fail_on,
        left_out="this machine was not examined" if options.structure_only else "",
        notes=tuple(
            map(
                redact,
                (*context.registry.broken, *notes(waivers, today), *_combined(context.plan), *_settings(options)),
            )
        ),
        gpus=inventory.device_uuids(gathering.results),
        versions=inventory.stack_versions(gathering.results),
        traits=_traits(gathering, options),
        finished_at=reader.now(),
        pages={entry.id: entry.url for entry in catalogue().entries},
    )


def _settings(options: Options) -> tuple[str, ...]:
    """Says which settings of the doctor were used."""
    if options.settings_file is None:
        return ()
    ignored = f": ignores {', '.join(options.ignored)}" if options.ignored else ""
    return (f"settings of {options.settings_file}{ignored}",)


def _combined(plan: Plan) -> tuple[str, ...]:
    """Says that several files are read as one run."""
    if len(plan.targets) < 2:
        return ()
    return (f"{' and '.join(plan.targets)} complete each other; they are read as one run, and a later file wins",)


def _traits(gathering: Gathering, options: Options) -> dict[str, str]:
    """The values to compare with the other nodes of --nodes."""
    if not options.is_one_of_many:
        return {}
    from skyrl_doctor.nodes.traits import FACTS, traits

    gathering.complete(FACTS)
    return traits(gathering.results)


def read_waivers(reader: Machine, options: Options, known: set[str]) -> tuple[Waiver, ...]:
    """The waivers of --waivers, of the doctor's settings and of the targets' [waivers] tables."""
    files = (*options.targets, *([options.settings_file] if options.settings_file else []))
    tables = [(path, _toml(reader, path).get("waivers")) for path in files if path.endswith(".toml")]
    if options.waiver_file is not None:
        table = _toml(reader, options.waiver_file).get("waivers")
        if table is None:
            raise UsageError(f"{options.waiver_file}: no [waivers] table")
        tables.append((options.waiver_file, table))
    return tuple(
        waiver for path, table in tables if table is not None for waiver in parse(table, file=path, known=known)
    )


def _redactor(machine: Machine, plan: Plan) -> Redactor:
    """Hides the secrets of the environment and of the configuration."""
    written: list[tuple[str, object]] = []
    for value in plan.values.values():
        written.append((value.key.rpartition(".")[2], value.value))
        written.extend(value.value.items() if isinstance(value.value, dict) else ())
    known = [text for name, text in written if isinstance(text, str) and is_secret_key(name)]
    return Redactor((*known, *secrets_of(_or_default(machine.environ, {}))))


def _or_default(read: Callable[[], T], default: T) -> T:
    """What `read` returns, or the default if a recording does not hold it."""
    try:
        return read()
    except CouldNotLook:
        return default


def today_utc() -> date:
    return datetime.now(UTC).date()


def _toml(reader: Machine, path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(reader.read(path).removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not valid TOML: {error}") from None


def _in_time(options: Options, work: Callable[[], T], who: str) -> T:
    """Runs `work` within the reading limit. What cannot be read is a UsageError."""
    try:
        return call_within(options.reading_s, work, who)
    except CouldNotLook as error:
        raise UsageError(str(error)) from None
