"""The environment that the workers of a run get: that of the job, with the plan's own [env] over it."""

from collections.abc import Mapping

from skyrl_doctor.plan.model import Plan

PREFIX = "env."


def plan_variables(plan: Plan) -> dict[str, str]:
    """The variables of the plan's [env], each a value of its own or all in one table."""
    table = plan.find(PREFIX.removesuffix("."))
    named = dict(table.value) if table is not None and isinstance(table.value, Mapping) else {}
    single = {
        key.removeprefix(PREFIX): value.value
        for key, value in plan.values.items()
        if key.startswith(PREFIX) and not value.unknown
    }
    return {name: value for name, value in {**named, **single}.items() if isinstance(value, str)}


def worker_environ(environ: Mapping[str, str], plan: Plan) -> dict[str, str]:
    return {**environ, **plan_variables(plan)}
