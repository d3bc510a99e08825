"""Shared by the checks of prime-rl's configuration."""

from collections.abc import Iterator

from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.plan.model import Plan, Value
from skyrl_train.config.dialect import SEED, TODAY


def prime_only(plan: Plan, *, schema: str | None = None) -> Plan:
    """The plan, if a target is prime-rl's (and in the given schema). Raises NotApplicable."""
    expected = (schema,) if schema else (TODAY, SEED)
    if not plan.is_of(*expected):
        schemas = {TODAY: " of today's schema", SEED: " of the schema of 2025"}
        raise NotApplicable("the configuration is not for prime-rl" + (schemas[schema] if schema else ""))
    return plan


def of_unknown_version(plan: Plan) -> Plan:
    """The plan, if it is prime-rl's and nothing tells the version. Else CFG004 compares its keys with that version."""
    if prime_only(plan).schema:
        raise NotApplicable(f"CFG004 compares the keys with {plan.schema}")
    return plan


def below(plan: Plan, table: str) -> Iterator[Value]:
    """The values directly below a table."""
    for key, value in plan.own.items():
        parent, _, name = key.rpartition(".")
        if parent == table and name:
            yield value


def refused(setting: str) -> str:
    """The pattern of pydantic's refusal of a setting, where it is written in one line."""
    return rf"(?:^|[^\w.]){setting}\b[\w.]{{0,60}}\W{{0,20}}(?:Extra inputs|Input should|extra_forbidden|Value error)"
