"""What tests share: judging one check on a recorded machine, through the real engine and the real probes."""

import dataclasses
import functools
from pathlib import Path

from skyrl_doctor.core.engine import examine
from skyrl_doctor.core.gather import Gathering
from skyrl_doctor.core.model import Outcome, Role
from skyrl_doctor.core.registry import Registry, discover
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.machine.recorded import RecordedMachine
from skyrl_doctor.plan.model import Plan, Value

MACHINES = Path(__file__).parent / "machines"


@functools.cache
def registry() -> Registry:
    return discover()


def recorded(name: str) -> RecordedMachine:
    """A recorded machine of tests/machines; a hole in it stops the test."""
    return RecordedMachine.load(str(MACHINES / name), strict=True)


def plan_of(**values: object) -> Plan:
    """A plan with these canonical keys, dots written as double underscores: trainer__logger=["wandb"]."""
    keys = {name.replace("__", "."): value for name, value in values.items()}
    return Plan(("plan.toml",), "run-config", {key: Value(key, value) for key, value in keys.items()})


def judge(check_id: str, machine: Machine | str, *, plan: Plan | None = None, role: Role | None = Role.GPU) -> Outcome:
    """What a check says of a machine. Probes run as they do for a user; only the time taken is left out."""
    looked_at = recorded(machine) if isinstance(machine, str) else machine
    roles = Roles(frozenset({role}) if role else frozenset(Role), asked=role is not None)
    check = next(check for check in registry().checks if check.id == check_id)
    preset: dict[type, object] = {Machine: looked_at, Plan: plan or Plan(), Roles: roles}
    gathering = Gathering(registry().probes, preset, deadline_s=20.0)
    (outcome,) = examine([check], gathering)
    return dataclasses.replace(outcome, duration_s=0.0)
