"""Asks the NVIDIA driver for its GPUs: through NVML in a child process, else through nvidia-smi.

A file of its own: the readers of the two answers import the records, and this imports the readers.
"""

from collections.abc import Callable

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.gpu import nvidia_smi as smi
from skyrl_doctor.facts.gpu.devices import Gpus, Owner
from skyrl_doctor.facts.gpu.nvml import NO_DRIVER, Refused, parse_nvml
from skyrl_doctor.facts.gpu.process_owner import parse_owner
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.machine.queries import Completed

# Without its persistence daemon the driver wakes each GPU first, which takes seconds.
NVML_LIMIT_S = 12.0
SMI_LIMIT_S = 8.0
MOST_OWNERS = 256


@probe(limit_s=25.0)
def gpu(machine: Machine) -> Gpus:
    asked = machine.ask("nvml", limit_s=NVML_LIMIT_S)
    if asked.timed_out:
        raise CouldNotLook(f"{asked.why}: the NVIDIA driver does not answer")
    answer = parse_nvml(asked.out) if asked.ok else Refused(None, asked.why)
    found = _by_nvidia_smi(machine, answer) if isinstance(answer, Refused) else answer
    return found.with_owners(_owners(machine, found))


def _by_nvidia_smi(machine: Machine, refused: Refused) -> Gpus:
    listing = machine.run(smi.LIST, limit_s=SMI_LIMIT_S)
    if not listing.found and _no_sign_of_nvidia(machine, refused):
        raise NotApplicable("no NVIDIA GPU here: no driver library, no nvidia-smi and no /dev/nvidia*")
    found = smi.parse_list(f"{listing.out}\n{listing.err}") if listing.found and not listing.timed_out else None
    if found is None:
        raise CouldNotLook(f"NVML: {refused.text}; {_said(listing)}")
    if not found.gpus:
        return found
    fillers: tuple[tuple[tuple[str, ...], Callable[[Gpus, str], Gpus]], ...] = (
        (smi.FIGURES, smi.with_figures),
        (smi.MIG_MODE, smi.with_mig_mode),
        (smi.APPS, smi.with_processes),
    )
    for argv, fill in fillers:
        told = machine.run(argv, limit_s=SMI_LIMIT_S)
        if told.timed_out:
            raise CouldNotLook(f"NVML: {refused.text}; {_said(told)}")
        if told.ok:
            found = fill(found, told.out)
    return found


def _no_sign_of_nvidia(machine: Machine, refused: Refused) -> bool:
    """Whether nothing speaks for a GPU. NVML may be unreachable for want of its Python module alone: /dev tells."""
    if refused.code is not None and refused.code not in NO_DRIVER:
        return False
    return not any(name.startswith("nvidia") for name in machine.listdir("/dev"))


def _owners(machine: Machine, gpus: Gpus) -> dict[int, Owner]:
    owners = {pid: _owner(machine, pid) for pid in gpus.pids[:MOST_OWNERS]}
    return {pid: owner for pid, owner in owners.items() if owner is not None}


def _owner(machine: Machine, pid: int) -> Owner | None:
    """None where /proc hides the process: it ended, is in another namespace, or is kept from this user."""
    status = _text(machine, f"/proc/{pid}/status")
    return parse_owner(status, _text(machine, f"/proc/{pid}/cgroup")) if status else None


def _text(machine: Machine, path: str) -> str:
    try:
        return machine.read(path)
    except CouldNotLook:
        return ""


def _said(completed: Completed) -> str:
    """nvidia-smi's cause stands in its first line; the last one is advice."""
    if not completed.found or completed.timed_out:
        return completed.why
    lines = f"{completed.err}\n{completed.out}".strip().splitlines()
    return f"{completed.command}: exit status {completed.rc}: {lines[0] if lines else 'no output'}"
