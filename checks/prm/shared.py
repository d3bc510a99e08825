"""What the checks of prime-rl's configuration share."""

from collections.abc import Iterator

from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.plan.dialects.prime import SEED, TODAY
from skyrl_doctor.plan.model import Plan, Value


def prime_only(plan: Plan, *, schema: str | None = None) -> Plan:
    """The plan, where a target is prime-rl's (in one of its two schemas, if that is asked)."""
    wanted = (schema,) if schema else (TODAY, SEED)
    if not plan.is_of(*wanted):
        raise NotApplicable("the configuration is not one of prime-rl" + (f" in the schema {schema}" if schema else ""))
    return plan


def below(plan: Plan, table: str) -> Iterator[Value]:
    """The values that stand directly in a table."""
    for key, value in plan.own.items():
        parent, _, name = key.rpartition(".")
        if parent == table and name:
            yield value


def refused(setting: str) -> str:
    """The pattern of pydantic's refusal of a setting, where it is written in one line."""
    return rf"(?:^|[^\w.]){setting}\b[\w.]{{0,60}}\W{{0,20}}(?:Extra inputs|Input should|extra_forbidden|Value error)"
