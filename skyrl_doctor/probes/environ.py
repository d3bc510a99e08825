"""Reads the environment."""

from skyrl_doctor.core.check import probe
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.machine.base import Machine


@probe(limit_s=1.0)
def environ(machine: Machine) -> Environ:
    return Environ(machine.environ())
