"""Accelerators of other makers than NVIDIA, by their device files."""

import re

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.gpu.devices import Gpus
from skyrl_doctor.machine.base import Machine

_KINDS = (
    (re.compile(r"kfd"), "an AMD GPU"),
    (re.compile(r"davinci\d{1,3}"), "an Ascend NPU"),
    (re.compile(r"accel(?:_\w{1,20})?\d{0,3}"), "another accelerator"),
)


@record
class OtherAccelerators:
    """The first kind that was found, with its device file."""

    label: str


@probe(limit_s=2.0)
def other_accelerators(machine: Machine, gpus: Gpus | None) -> OtherAccelerators:
    """Looks for them only where no NVIDIA GPU was found."""
    if gpus is not None:
        raise NotApplicable("this machine has an NVIDIA GPU")
    names = sorted(machine.listdir("/dev"))
    for pattern, label in _KINDS:
        found = next((name for name in names if pattern.fullmatch(name)), None)
        if found is not None:
            return OtherAccelerators(f"{label} (/dev/{found})")
    raise NotApplicable("no other accelerator here")
