"""Reads who and where the doctor is."""

import dataclasses

from skyrl_doctor.core.check import probe
from skyrl_doctor.facts.host import Host
from skyrl_doctor.machine.base import Machine


@probe(limit_s=2.0)
def host(machine: Machine) -> Host:
    identity = dataclasses.asdict(machine.identity())
    return Host(name=identity.pop("host"), now=machine.now(), **identity)
