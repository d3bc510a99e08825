"""Asks the training interpreter about the SDK, its templates and our records."""

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.agent_packages import AgentPackages, parse_agent_packages
from skyrl_doctor.facts.interpreter import TrainingPython
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.plan.model import Plan

LIMIT_S = 15.0
AGENT_CLASS = "agent_cls"


@probe(limit_s=LIMIT_S + 1)
def agent_packages(machine: Machine, plan: Plan, python: TrainingPython) -> AgentPackages:
    if python.fault:
        raise CouldNotLook(f"{python.shown}: {python.fault}")
    named = plan.own[AGENT_CLASS].value if AGENT_CLASS in plan.own else None
    words = [named] if isinstance(named, str) and named.replace(".", "").replace("_", "").isalnum() else []
    done = machine.ask("agent_packages", *words, python=python.path, limit_s=LIMIT_S)
    if not done.ok:
        raise CouldNotLook(done.why)
    return parse_agent_packages(done.out, python.path)
