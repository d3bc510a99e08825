"""The environment of a run's workers: the job's environment, overridden by the plan's [env]."""

from collections.abc import Mapping

from skyrl_doctor.plan.model import Plan

PREFIX = "env."


def plan_variables(plan: Plan) -> dict[str, str]:
    """The variables of the plan's [env], which are single values or one table."""
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
