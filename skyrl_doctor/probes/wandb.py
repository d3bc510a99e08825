"""Asks a child whether wandb could log in: it sees the key, and nothing that leaves it does."""

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.wandb import WandbLogin, parse_login
from skyrl_doctor.facts.worker_environ import plan_variables
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.plan.model import Plan

LIMIT_S = 5.0
LOGGER_KEY = "trainer.logger"
LOGGERS = frozenset({"wandb", "tracking"})
"""As verl names it; the second is its old name."""


@probe(limit_s=LIMIT_S + 1)
def wandb(machine: Machine, plan: Plan) -> WandbLogin:
    loggers = plan.texts(LOGGER_KEY)
    if loggers is None:
        raise NotApplicable("the plan names no logger" if plan else "no plan was given: no logger is known")
    if not LOGGERS & set(loggers):
        raise NotApplicable(f"{plan.name(LOGGER_KEY)} is {', '.join(loggers) or 'empty'}: wandb is not used")
    asked = machine.ask("wandb_login", limit_s=LIMIT_S, env=plan_variables(plan))
    if not asked.ok:
        raise CouldNotLook(asked.why)
    return parse_login(asked.out)
