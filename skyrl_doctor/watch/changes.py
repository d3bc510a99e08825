"""The changes of an alert as settings of the job's own configuration, with values that can be set."""

from collections.abc import Sequence
from dataclasses import replace

from skyrl_doctor.core.errors import CouldNotLook, UsageError
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.watch.finding import Alert, Change


def read_plan(machine: Machine, targets: Sequence[str]) -> Plan:
    """The configuration of the job; an empty plan where there is none that can be read."""
    from skyrl_doctor.plan.load import load

    try:
        return load(machine, targets)
    except (CouldNotLook, UsageError):
        return Plan()


def with_settings(one: Alert, plan: Plan) -> Alert:
    """The alert with the settings of its changes in its remedy. A change without a computable new value is left out."""
    remedy = one.finding.remedy
    if remedy is None or not plan:
        return one
    values = {change.key: value for change in one.changes if (value := new_value(change, plan)) is not None}
    return replace(one, finding=replace(one.finding, remedy=replace(remedy, settings=plan.settings(values))))


def new_value(change: Change, plan: Plan) -> str | None:
    """The new value of a setting; None where it cannot be computed or is the present one."""
    present = _present(plan, change.key)
    new = _computed(change, plan, present)
    return None if new is None or new == _text(present) else new


def _computed(change: Change, plan: Plan, present: object) -> str | None:
    if change.value:
        return change.value
    if change.like:
        return _text(_present(plan, change.like))
    if isinstance(present, bool) or not isinstance(present, int | float):
        return None
    if change.plus:
        return _text(present + change.plus)
    if isinstance(present, int):
        return str(max(1, round(present * change.times)))
    return f"{present * change.times:.2g}"


def _present(plan: Plan, key: str) -> object:
    try:
        found = plan.find(key)
    except CouldNotLook:
        return None
    return None if found is None else found.value


def _text(value: object) -> str | None:
    if value is None:
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)
