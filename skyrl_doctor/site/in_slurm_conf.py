"""Checks the settings of slurm.conf beside the scripts: PrologFlags, HealthCheckInterval and the partitions."""

import re
from collections.abc import Iterator

from skyrl_doctor.machine.base import Machine
from skyrl_doctor.site.files import Settings
from skyrl_doctor.site.result import Result, failed, skipped, unknown
from skyrl_doctor.site.slurm_config import SlurmConfig

SHOW_PARTITIONS = ("scontrol", "--all", "--oneliner", "show", "partition")
_LIMIT_S = 15.0
_PARTITION = re.compile(r"^PartitionName=(\S+)", re.MULTILINE)
_WITH_ALLOC = frozenset(("alloc", "contain", "x11", "runinjob", "deferbatch", "forcerequeueonfail"))
"""Flags that are Alloc or imply it."""
_INCLUDED = "slurm.conf includes other files, which site-check does not read"


def check_flags(config: SlurmConfig, scripts: dict[str, str]) -> Iterator[Result]:
    """Whether Slurm starts the Prolog with the job. Otherwise a node's Prolog waits for the first step there."""
    subject = "PrologFlags"
    if "Prolog" not in scripts or _WITH_ALLOC.intersection(config.words(subject)):
        return
    if config.has_includes and not config.text(subject):
        yield unknown(subject, f"not found; {_INCLUDED}")
        return
    value = ",".join(config.values.get(subject.lower(), ())) or "not set"
    yield failed(
        subject,
        f"{value}; expected Alloc. Without it, the Prolog runs on a node only when the job's first step starts there",
        "add Alloc to PrologFlags in slurm.conf, and restart slurmctld and slurmd",
    )


def check_interval(config: SlurmConfig, scripts: dict[str, str]) -> Iterator[Result]:
    """Whether Slurm ever starts the HealthCheckProgram."""
    subject = "HealthCheckInterval"
    text = config.text(subject)
    if "HealthCheckProgram" not in scripts or re.match(r"0*[1-9]", text):
        return
    if config.has_includes and not text:
        yield unknown(subject, f"not found; {_INCLUDED}")
        return
    value = text or "not set, which means 0"
    yield skipped(subject, f"{value}: the health check is off; HealthCheckInterval=300 runs it every 5 minutes")


def check_partitions(machine: Machine, config: SlurmConfig, settings: Settings) -> Iterator[Result]:
    """Whether Slurm has the partitions that site.sh names."""
    named = {
        "GPU_PARTITIONS": settings.gpu_partitions.split(),
        "RUNTIME_PARTITIONS": settings.runtime_partitions.split(),
    }
    if not any(named.values()):
        return
    known = _partitions(machine, config)
    for subject, names in named.items():
        absent = [] if isinstance(known, str) else [name for name in names if name not in known]
        if names and isinstance(known, str):
            yield unknown(subject, known)
        elif absent and config.has_includes:
            yield unknown(subject, f"{' '.join(absent)}: not in slurm.conf; {_INCLUDED}")
        elif absent:
            yield failed(
                subject,
                f"Slurm has no partition {' '.join(absent)}",
                f"correct {subject} in site.sh: names separated by blanks, of {' '.join(sorted(known))}",
            )


def _partitions(machine: Machine, config: SlurmConfig) -> frozenset[str] | str:
    """The names of the partitions, or why they are not known."""
    if config.is_of_file:
        names = config.values.get("partitionname", ())
        found = frozenset(name for name in names if name.upper() != "DEFAULT")
        return found or f"slurm.conf names no partition{f'; {_INCLUDED}' if config.has_includes else ''}"
    done = machine.run(SHOW_PARTITIONS, limit_s=_LIMIT_S)
    found = frozenset(_PARTITION.findall(done.out))
    return (found or f"`{' '.join(SHOW_PARTITIONS)}` printed no partition") if done.ok else done.why
