"""One examination from options to report: machine, plan, roles, selection, engine, waivers."""

import contextlib
import sys
import time
import tomllib
from collections.abc import Callable
from dataclasses import field
from datetime import UTC, date, datetime
from typing import Any, TypeVar

from skyrl_doctor import inventory
from skyrl_doctor.core.check import Check
from skyrl_doctor.core.engine import Observer, examine, silent
from skyrl_doctor.core.errors import CouldNotLook, UsageError
from skyrl_doctor.core.gather import Gathering
from skyrl_doctor.core.model import Role, Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.core.registry import Registry, discover
from skyrl_doctor.core.select import select
from skyrl_doctor.core.time_limit import call_within
from skyrl_doctor.core.waivers import Waiver, apply, notes, parse
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.machine.redact import Redactor, is_secret_key, secrets_of
from skyrl_doctor.plan.load import load
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.report.model import Report
from skyrl_doctor.roles import guess_roles
from skyrl_doctor.structure_only import config_only
from skyrl_train.contracts.version import VERSION

T = TypeVar("T")
READ_LIMIT_S = 5.0
MOMENT_S = 0.25
REPORTING_S = 0.4
"""Ending what still runs and writing the report takes less."""
DEFAULT_DEADLINE_S = 30.0


@record(kw_only=True)
class Options:
    """What the caller asked for."""

    targets: tuple[str, ...] = ()
    roles: frozenset[Role] | None = None
    wanted: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    waiver_file: str | None = None
    fail_on: Severity = Severity.ERROR
    deadline_s: float = DEFAULT_DEADLINE_S
    structure_only: bool = False
    compared: bool = False
    """Whether the report goes beside those of other nodes."""
    started: float = field(default_factory=time.monotonic)
    """When the caller began to wait, by the monotonic clock."""

    @property
    def looking_ends(self) -> float:
        """When looking must end, so that the report is out by the deadline."""
        return self.started + self.deadline_s - min(REPORTING_S, 0.3 * self.deadline_s)

    @property
    def reading_s(self) -> float:
        """What is left for reading files first; a moment even where nothing is left, since a file mostly takes none."""
        return max(MOMENT_S, min(READ_LIMIT_S, self.looking_ends - time.monotonic()))


@record
class Context:
    """What an examination starts from; `fix` and `env` start from it too."""

    machine: Machine
    registry: Registry
    plan: Plan
    roles: Roles
    checks: tuple[Check, ...]
    unasked: dict[type, None]
    """Facts that checks only welcome, and that --structure-only leaves out."""

    def gathering(self, options: Options) -> Gathering:
        """The facts of this machine, to be gathered as they are asked for."""
        preset: dict[type, object] = {Machine: self.machine, Plan: self.plan, Roles: self.roles, **self.unasked}
        left_s = options.looking_ends - time.monotonic()
        return Gathering(self.registry.probes, preset, deadline_s=options.deadline_s, left_s=left_s)


def prepare(machine: Machine, reader: Machine, options: Options) -> Context:
    """`machine` is examined; `reader` reads the targets (they lie here even when the machine is a recording)."""
    plan = _in_time(options, lambda: load(reader, options.targets), "reading the target")
    registry = discover()
    if not options.structure_only:
        return Context(machine, registry, plan, _roles(machine, options), registry.checks, {})
    if not plan:
        raise UsageError("--structure-only looks at a configuration alone: wanted a TARGET")
    checks, unasked = config_only(registry.checks)
    return Context(machine, registry, plan, Roles(frozenset(Role), asked=False), checks, unasked)


def _roles(machine: Machine, options: Options) -> Roles:
    if options.roles is not None:
        return Roles(options.roles, asked=True)
    try:
        return call_within(options.reading_s, lambda: guess_roles(machine), "guessing the role")
    except CouldNotLook:  # then every check runs, and says itself what could not be seen
        return Roles(frozenset(Role), asked=False)


def run(machine: Machine, reader: Machine, options: Options, *, observe: Observer = silent) -> Report:
    """Examines and reports; whatever it started is ended."""
    try:
        with contextlib.redirect_stdout(sys.stderr):  # stdout is the report's, whatever a stranger's check prints
            return _run(machine, reader, options, observe)
    finally:
        machine.close()


def _run(machine: Machine, reader: Machine, options: Options, observe: Observer) -> Report:
    context = prepare(machine, reader, options)
    known = {check.id for check in context.registry.checks}
    chosen = select(context.checks, wanted=options.wanted, ignored=options.ignored, roles=context.roles.roles)
    if not (chosen.run or chosen.skipped):
        raise UsageError("nothing is left to look at: --ignore takes away all that --select names")
    waivers = _in_time(options, lambda: read_waivers(reader, options, known), "reading the waivers")
    today = today_utc()
    gathering = context.gathering(options)
    outcomes = examine(chosen.run, gathering, redact=_redactor(machine, context.plan), observe=observe)
    judged = [apply(outcome, waivers, today) for outcome in outcomes]
    return Report(
        outcomes=tuple(sorted((*judged, *chosen.skipped), key=lambda outcome: outcome.id)),
        roles=tuple(sorted(context.roles.roles)),
        targets=context.plan.targets,
        dialect=context.plan.dialect,
        duration_s=time.monotonic() - options.started,
        version=VERSION,
        host=_said(lambda: machine.identity().host, "an unnamed machine"),
        fail_on=options.fail_on,
        notes=(*context.registry.broken, *notes(waivers, today)),
        gpus=inventory.devices(gathering.results),
        versions=inventory.versions(gathering.results),
        traits=_traits(gathering, options),
        finished_at=reader.now(),
    )


def _traits(gathering: Gathering, options: Options) -> dict[str, str]:
    """What is compared with other nodes, where this node is one of several."""
    if not options.compared:
        return {}
    from skyrl_doctor.nodes.traits import FACTS, traits

    gathering.complete(FACTS)
    return traits(gathering.results)


def read_waivers(reader: Machine, options: Options, known: set[str]) -> tuple[Waiver, ...]:
    """Those of --waivers, and those in a target's own [waivers]."""
    tables = [(path, _toml(reader, path).get("waivers")) for path in options.targets if path.endswith(".toml")]
    if options.waiver_file is not None:
        table = _toml(reader, options.waiver_file).get("waivers")
        if table is None:
            raise UsageError(f"{options.waiver_file}: holds no [waivers]")
        tables.append((options.waiver_file, table))
    return tuple(
        waiver for path, table in tables if table is not None for waiver in parse(table, file=path, known=known)
    )


def _redactor(machine: Machine, plan: Plan) -> Redactor:
    """Knows the secrets of the environment, and those that the user wrote into the configuration."""
    written: list[tuple[str, object]] = []
    for value in plan.values.values():
        written.append((value.key.rpartition(".")[2], value.value))
        written.extend(value.value.items() if isinstance(value.value, dict) else ())
    known = [text for name, text in written if isinstance(text, str) and is_secret_key(name)]
    return Redactor((*known, *secrets_of(_said(machine.environ, {}))))


def _said(ask: Callable[[], T], otherwise: T) -> T:
    """What the machine says; a recording may hold no answer."""
    try:
        return ask()
    except CouldNotLook:
        return otherwise


def today_utc() -> date:
    return datetime.now(UTC).date()


def _toml(reader: Machine, path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(reader.read(path).removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not valid TOML: {error}") from None


def _in_time(options: Options, work: Callable[[], T], who: str) -> T:
    """Runs what comes before the engine; what it cannot read is the caller's to mend."""
    try:
        return call_within(options.reading_s, work, who)
    except CouldNotLook as error:
        raise UsageError(str(error)) from None
