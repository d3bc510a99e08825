"""What slurm.conf itself must say: PrologFlags, HealthCheckInterval and the partitions that site.sh names."""

from typing import cast

import pytest

from skyrl_doctor.machine import queries as q
from skyrl_doctor.machine.base import Absent, Machine, T
from skyrl_doctor.site.files import Settings
from skyrl_doctor.site.in_slurm_conf import (
    SHOW_PARTITIONS,
    check_ends,
    check_flags,
    check_interval,
    check_limits,
    check_partitions,
)
from skyrl_doctor.site.result import Result, failed, skipped, unknown
from skyrl_doctor.site.slurm_config import HOOKS, SlurmConfig, parse, parse_file

INCLUDED = "slurm.conf includes other files, which site-check does not read"


class Partitions(Machine):
    """A machine whose scontrol prints these partitions."""

    def __init__(self, *names: str) -> None:
        self.out = "".join(f"PartitionName={name} AllowGroups=ALL\n" for name in names)

    def answer(self, query: q.Query[T]) -> T:
        if isinstance(query, q.Run) and query.argv == SHOW_PARTITIONS:
            done = q.Completed(command="scontrol", rc=0 if self.out else 1, out=self.out)
            return cast("T", done)
        raise Absent(str(query))


def of_scontrol(*lines: str) -> SlurmConfig:
    text = "\n".join(("Configuration data as of 2026-01-02T10:07:02", "SLURM_CONF = /etc/slurm/slurm.conf", *lines))
    config = parse(text)
    assert config is not None
    return config


def of_file(*lines: str) -> SlurmConfig:
    return parse_file("\n".join(lines), "/etc/slurm/slurm.conf")


def without_alloc(value: str) -> Result:
    return failed(
        "PrologFlags",
        f"{value}; expected Alloc. Without it, the Prolog runs on a node only when the job's first step starts there",
        "add Alloc to PrologFlags in slurm.conf, and restart slurmctld and slurmd",
    )


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (of_file(), [without_alloc("not set")]),
        (of_scontrol("PrologFlags = (null)"), [without_alloc("not set")]),
        (of_file("PrologFlags=Serial"), [without_alloc("Serial")]),
        (of_file("PrologFlags=serial,alloc"), []),
        (of_file("PrologFlags=X11"), []),
        (of_scontrol("PrologFlags = Alloc,Contain"), []),
        (of_file("Include site.conf"), [unknown("PrologFlags", f"not found; {INCLUDED}")]),
        (of_file("PrologFlags=Serial", "include site.conf"), [without_alloc("Serial")]),
    ],
)
def test_a_prolog_that_does_not_run_with_the_job(config: SlurmConfig, expected: list[Result]) -> None:
    assert list(check_flags(config, HOOKS)) == expected
    assert list(check_flags(config, {"TaskProlog": "/t"})) == []


def is_off(value: str) -> Result:
    reason = f"{value}: the health check is off; HealthCheckInterval=300 runs it every 5 minutes"
    return skipped("HealthCheckInterval", reason)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (of_file("HealthCheckInterval=0"), [is_off("0")]),
        (of_scontrol("HealthCheckInterval = 0 sec"), [is_off("0 sec")]),
        (of_file(), [is_off("not set, which means 0")]),
        (of_file("Include site.conf"), [unknown("HealthCheckInterval", f"not found; {INCLUDED}")]),
        (of_file("HealthCheckInterval=300"), []),
        (of_scontrol("HealthCheckInterval = 60 sec"), []),
    ],
)
def test_a_health_check_that_never_runs(config: SlurmConfig, expected: list[Result]) -> None:
    assert list(check_interval(config, HOOKS)) == expected
    assert list(check_interval(config, {"Prolog": "/p"})) == []


def partitions(config: SlurmConfig, gpu: str, runtime: str = "", *, known: tuple[str, ...] = ()) -> list[Result]:
    settings = Settings("/d", "/t", "/l", "/s", gpu, runtime, "", "", "20", "45")
    return list(check_partitions(Partitions(*known), config, settings))


FILE = of_file("PartitionName=DEFAULT State=UP", "PartitionName=gpu Nodes=n1", "PartitionName=cpu Nodes=n2")


def absent(subject: str, name: str, known: str = "cpu gpu") -> Result:
    return failed(
        subject,
        f"Slurm has no partition {name}",
        f"correct {subject} in site.sh: names separated by blanks. Slurm's partitions are: {known}",
    )


def test_partitions_that_slurm_does_not_have() -> None:
    assert partitions(FILE, "gpu", "cpu") == []
    assert partitions(FILE, "") == []
    assert partitions(FILE, "gpux gpu") == [absent("GPU_PARTITIONS", "gpux")]
    assert partitions(FILE, "gpu,cpu") == [absent("GPU_PARTITIONS", "gpu,cpu")]
    assert partitions(FILE, "DEFAULT", "sand") == [
        absent("GPU_PARTITIONS", "DEFAULT"),
        absent("RUNTIME_PARTITIONS", "sand"),
    ]
    assert partitions(of_scontrol(), "gpux", known=("cpu", "gpu")) == [absent("GPU_PARTITIONS", "gpux")]
    assert partitions(of_scontrol(), "gpu", known=("cpu", "gpu")) == []


def test_partitions_that_cannot_be_known() -> None:
    included = of_file("PartitionName=gpu", "Include more.conf")
    assert partitions(included, "gpu") == []
    assert partitions(included, "gpux") == [unknown("GPU_PARTITIONS", f"gpux: not in slurm.conf; {INCLUDED}")]
    assert partitions(of_file("Include more.conf"), "gpu") == [
        unknown("GPU_PARTITIONS", f"slurm.conf names no partition; {INCLUDED}")
    ]
    assert partitions(of_scontrol(), "gpu") == [unknown("GPU_PARTITIONS", "scontrol: exited with status 1")]


def left_over(value: str, plugin: str = "job_container/tmpfs") -> Result:
    return failed(
        "ProctrackType",
        f"{value}; expected proctrack/cgroup. With {plugin} the job's directory ends with its own /tmp, so the Epilog finds "
        "nothing to remove, and only cgroups end every process of the job",
        "set ProctrackType=proctrack/cgroup in slurm.conf, and restart slurmctld and slurmd",
    )


TMPFS = "JobContainerType=job_container/tmpfs"


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (of_file(TMPFS, "ProctrackType=proctrack/linuxproc"), [left_over("proctrack/linuxproc")]),
        (
            of_scontrol("NamespaceType = namespace/tmpfs", "ProctrackType = proctrack/pgid"),
            [left_over("proctrack/pgid", "namespace/tmpfs")],
        ),
        (of_file(TMPFS, "ProctrackType=proctrack/cgroup"), []),
        (of_file(TMPFS), []),
        (of_file(TMPFS, "Include site.conf"), [unknown("ProctrackType", f"not found; {INCLUDED}")]),
        (of_file("ProctrackType=proctrack/linuxproc"), []),
    ],
)
def test_processes_that_outlive_a_job_with_its_own_tmp(config: SlurmConfig, expected: list[Result]) -> None:
    assert list(check_ends(config, {"TaskProlog": "/t"})) == expected
    assert list(check_ends(config, {"Prolog": "/p"})) == []


def too_short(key: str, value: int, hook: str, limit: int) -> Result:
    return failed(
        key,
        f"{value} s; expected at least {limit + 5}. Our {hook} takes up to {limit} s ({hook.upper()}_LIMIT_S), "
        "and Slurm drains the node of one that it ends",
        f"raise {key} in slurm.conf, or set a smaller {hook.upper()}_LIMIT_S in site.sh",
    )


BOTH = "PrologEpilogTimeout"


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (of_file(f"{BOTH}=10"), [too_short(BOTH, 10, "Prolog", 20), too_short(BOTH, 10, "Epilog", 45)]),
        (of_scontrol(f"{BOTH} = 45"), [too_short(BOTH, 45, "Epilog", 45)]),
        (of_scontrol(f"{BOTH} = 45", "EpilogTimeout = 30 sec"), [too_short("EpilogTimeout", 30, "Epilog", 45)]),
        (of_file(f"{BOTH}=10", "PrologTimeout=60", "EpilogTimeout=60"), []),
        (of_file(f"{BOTH}=50"), []),
        (of_scontrol(f"{BOTH} = 65534"), []),
        (of_file(), []),
    ],
)
def test_a_time_limit_of_slurm_below_that_of_a_script(config: SlurmConfig, expected: list[Result]) -> None:
    settings = Settings("/d", "/t", "/l", "/s", "", "", "", "", "20", "45")
    assert list(check_limits(config, HOOKS, settings)) == expected
    assert list(check_limits(config, {"TaskProlog": "/t"}, settings)) == []
