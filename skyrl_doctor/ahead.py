"""Asks the slow questions of this machine while the target is still being read.

The answers are those of a run that names no interpreter of its own. Where the target names one, its probes ask again, and
these answers are not used.
"""

import contextlib
import threading
from collections.abc import Iterable

from skyrl_doctor.core.check import Check
from skyrl_doctor.core.gather import Gathering
from skyrl_doctor.core.registry import Registry
from skyrl_doctor.facts.agent_packages import AgentPackages
from skyrl_doctor.facts.gpu.devices import Gpus
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.facts.interpreter import Interpreter
from skyrl_doctor.facts.podman.program import Podman
from skyrl_doctor.facts.triton_build import TritonBuild
from skyrl_doctor.facts.wandb import WandbLogin
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.machine.remembered import RememberedMachine
from skyrl_doctor.plan.model import Plan

SLOW: tuple[type, ...] = (TritonBuild, Interpreter, AgentPackages, Gpus, WandbLogin, Podman)
"""Facts that take a process."""


def ask_ahead(
    machine: RememberedMachine, registry: Registry, roles: Roles, checks: Iterable[Check], limit_s: float
) -> None:
    """Starts what these checks will ask. The machine keeps each answer for the probe that needs it."""
    needed = {need.kind for check in checks for need in check.needs}
    slow = [kind for kind in SLOW if kind in needed]
    if not slow:
        return
    facts = Gathering(registry.probes, {Machine: machine, Plan: Plan(), Roles: roles}, deadline_s=limit_s)

    def ask() -> None:
        with contextlib.suppress(BaseException):  # the probe that needs the answer gets the same error, and reports it
            facts.complete(slow)

    with contextlib.suppress(RuntimeError):  # no thread can start: then nothing is asked ahead
        threading.Thread(target=ask, name="asks ahead", daemon=True).start()
