"""Reads the site's message of the day."""

from dataclasses import dataclass

from skyrl_doctor.core.check import probe
from skyrl_doctor.machine.base import Machine


@dataclass(frozen=True, slots=True)
class Motd:
    text: str


@probe(limit_s=1.0)
def motd(machine: Machine) -> Motd:
    return Motd(machine.environ().get("SITE_MOTD", ""))
