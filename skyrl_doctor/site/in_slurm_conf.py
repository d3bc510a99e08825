"""Checks the settings of slurm.conf beside the scripts: flags, intervals, time limits, and how a job's processes end."""

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
_OWN_TMP = ("JobContainerType", "NamespaceType")
"""The plugin that gives a job a /tmp of its own, before and since Slurm 25.11."""
_PRIVATE = ("job_container/tmpfs", "namespace/tmpfs")
_CGROUP, _BOTH = "proctrack/cgroup", "PrologEpilogTimeout"
_SECONDS = re.compile(r"\d{1,9}")
_TO_END_S = 5
"""What a script takes after its limit, to kill what it started and to note it."""
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


def check_ends(config: SlurmConfig, scripts: dict[str, str]) -> Iterator[Result]:
    """Whether the processes of a job end where its directory, by which the Epilog knows it, has gone with its /tmp."""
    subject = "ProctrackType"
    own = [word for key in _OWN_TMP for word in config.words(key) if word in _PRIVATE]
    if not own or not {"TaskProlog", "Epilog"} & scripts.keys():
        return
    value = config.text(subject).lower()
    if not value and config.has_includes:
        yield unknown(subject, f"not found; {_INCLUDED}")
    elif value not in ("", _CGROUP):  # the default is cgroup
        yield failed(
            subject,
            f"{value}; expected {_CGROUP}. With {own[0]} the job's directory ends with its own /tmp, so the Epilog finds "
            "nothing to remove, and only cgroups end every process of the job",
            f"set ProctrackType={_CGROUP} in slurm.conf, and restart slurmctld and slurmd",
        )


def check_limits(config: SlurmConfig, scripts: dict[str, str], settings: Settings) -> Iterator[Result]:
    """Whether Slurm waits for the Prolog and the Epilog longer than they take at most. Without a limit it waits."""
    own = {"Prolog": settings.prolog_limit_s, "Epilog": settings.epilog_limit_s}
    for hook, limit in own.items():
        key = next((key for key in (f"{hook}Timeout", _BOTH) if _SECONDS.match(config.text(key))), None)
        if hook not in scripts or key is None or not limit.isdecimal():
            continue
        found = _SECONDS.match(config.text(key))
        least = int(limit) + _TO_END_S
        if found and int(found[0]) < least:
            yield failed(
                key,
                f"{found[0]} s; expected at least {least}. Our {hook} takes up to {limit} s ({hook.upper()}_LIMIT_S), "
                "and Slurm drains the node of one that it ends",
                f"raise {key} in slurm.conf, or set a smaller {hook.upper()}_LIMIT_S in site.sh",
            )


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
                f"correct {subject} in site.sh: names separated by blanks. Slurm's partitions are: {' '.join(sorted(known))}",
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
