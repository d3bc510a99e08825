"""ENV008."""

import pytest

from checks.env.process_limit_too_low import process_limit_too_low
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Location, Outcome, Remedy, RemedyKind, Severity, Status
from skyrl_doctor.facts.cgroup import Cgroup, Level
from skyrl_doctor.facts.cpus import NodeCpus
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Host
from skyrl_doctor.facts.limits import Limit, Limits
from skyrl_doctor.plan.model import Plan, Value
from support import judge, plan_of, recorded

FREE = Limit(None, None)
FEWER = Remedy(
    kind=RemedyKind.FIX_CONFIG,
    summary="tell Ray how many CPUs the job has",
    settings={"ray_kwargs.ray_init.num_cpus": "16"},
)
RAISE = Remedy(
    kind=RemedyKind.FIX_ENV,
    summary="raise the soft limit in the job script",
    commands=("ulimit -S -u $(ulimit -H -u)",),
    safe=True,
)
TOO_MANY = Finding(
    message="Ray will start 128 workers, one for each CPU that it counts, but this job has 16 CPUs; expected ray_kwargs.ray_init.num_cpus=16",
    severity=Severity.WARNING,
    remedy=FEWER,
)


def ask(wanted: str) -> Remedy:
    return Remedy(kind=RemedyKind.ASK_ADMIN, summary=f"ask your site to raise this limit to {wanted}")


def host(uid: int = 1000, cpus: int = 16) -> Host:
    return Host(name="n", user="u", uid=uid, gid=1, pid=1, cpus=cpus, system="Linux", python="p", cwd="/", now=0.0)


def found(
    processes: Limit = FREE,
    *,
    files: Limit = FREE,
    threads: int | None = None,
    tasks: tuple[Level, ...] = (),
    online: int = 16,
    uid: int = 1000,
    plan: Plan | None = None,
) -> list[Finding]:
    limits = Limits(processes=processes, open_files=files, threads=threads)
    return list(
        process_limit_too_low(limits, Cgroup(tasks=tasks), NodeCpus(online), host(uid), Environ({}), plan or Plan())
    )


def test_without_limits_all_is_well() -> None:
    assert found() == []


@pytest.mark.parametrize(
    ("soft", "severity"), [(501, Severity.ERROR), (502, Severity.WARNING), (2173, Severity.WARNING), (2174, None)]
)
def test_fails_where_ray_cannot_start_and_warns_where_a_run_may_not(soft: int, severity: Severity | None) -> None:
    assert [finding.severity for finding in found(Limit(soft, soft))] == ([severity] if severity else [])


def test_a_soft_limit_that_the_job_may_raise() -> None:
    message = "ulimit -u is 300, 7 in use, which leaves 293 threads; expected 502 for Ray to start with 16 workers"
    assert found(Limit(300, None), threads=7) == [Finding(message=message, remedy=RAISE)]
    assert [finding.remedy for finding in found(Limit(300, 4096))] == [RAISE]
    assert [finding.remedy for finding in found(Limit(300, 1000))] == [ask("2174 or more")]


def test_what_the_user_runs_elsewhere_counts() -> None:
    message = "ulimit -u is 4096, 3900 in use, which leaves 196 threads; expected 502 for Ray to start with 16 workers"
    assert found(Limit(4096, 4096), threads=3900) == [Finding(message=message, remedy=ask("2174 or more"))]
    assert found(Limit(4096, 4096), threads=5000)[0].message.startswith(
        "ulimit -u is 4096, 5000 in use, which leaves 0"
    )


def test_the_limit_does_not_hold_root() -> None:
    assert found(Limit(10, 10), uid=0) == []


def test_the_tightest_control_group_counts() -> None:
    message = (
        "pids.max of /job is 512, 41 in use, which leaves 471 threads; expected 502 for Ray to start with 16 workers"
    )
    tasks = (Level("/user", 10000, 100), Level("/job", 512, 41))
    assert found(tasks=tasks) == [Finding(message=message, remedy=ask("2174 or more"))]


def test_finds_workers_for_cpus_that_the_job_lacks() -> None:
    assert found(online=128) == [TOO_MANY]
    both = found(Limit(4096, 4096), online=128)
    assert [finding.remedy for finding in both] == [FEWER, FEWER]
    raised = found(Limit(1024, 4096), online=128)[1].remedy
    assert raised == Remedy(
        kind=RemedyKind.FIX_CONFIG,
        summary="tell Ray how many CPUs the job has, and raise the soft limit in the job script",
        settings=FEWER.settings,
        commands=RAISE.commands,
    )


def test_the_own_trainer_tells_ray_by_itself() -> None:
    assert found(online=128, plan=plan_of(model__path="m")) == []


def told(value: object, unknown: str = "") -> Plan:
    key = "ray_kwargs.ray_init.num_cpus"
    return Plan(("run.sh",), "verl", own={key: Value(key, value, Location("run.sh", 9, key), unknown=unknown)})


def test_a_plan_may_tell_ray_too_much() -> None:
    (finding,) = found(plan=told(64))
    assert finding.message.startswith("Ray will start 64 workers")
    assert finding.location == Location("run.sh", 9, "ray_kwargs.ray_init.num_cpus")
    assert found(online=128, plan=told(8)) == []
    assert found(online=128, plan=told(None)) == [TOO_MANY]


def test_what_the_plan_tells_may_be_unknown() -> None:
    with pytest.raises(CouldNotLook, match="a command writes it"):
        found(plan=told("$(nproc)", "a command writes it"))
    with pytest.raises(CouldNotLook, match="expected a whole number"):
        found(plan=told("many"))


@pytest.mark.parametrize(
    ("files", "quiet"), [(Limit(1024, 4096), True), (Limit(1024, None), True), (Limit(1024, 4095), False)]
)
def test_open_files_count_by_the_hard_limit(files: Limit, quiet: bool) -> None:
    assert (found(files=files) == []) is quiet


def test_reproduces_on_a_recording() -> None:
    processes = (
        "ulimit -u is 2048, 65 in use, which leaves 1983 threads; expected 2966 for Ray to start with 128 workers"
    )
    files = "the hard limit of open files (ulimit -H -n) is 2048; expected 4096 or more for Ray"
    remedy = Remedy(
        kind=RemedyKind.FIX_CONFIG,
        summary="tell Ray how many CPUs the job has, and raise the soft limit in the job script",
        settings=FEWER.settings,
        commands=RAISE.commands,
    )
    assert judge("ENV008", "few_processes") == Outcome(
        id="ENV008",
        slug="process-limit-too-low",
        status=Status.FAIL,
        findings=(
            TOO_MANY,
            Finding(message=processes, remedy=remedy),
            Finding(message=files, severity=Severity.WARNING, remedy=ask("65536")),
        ),
    )


def test_reproduces_a_control_group_s_limit() -> None:
    message = "pids.max of /sys/fs/cgroup/system.slice/slurmstepd.scope/job_4711 is 256, 41 in use, which leaves 215 threads; expected 502 for Ray to start with 16 workers"
    assert judge("ENV008", "few_tasks_in_cgroup").findings == (Finding(message=message, remedy=ask("2174 or more")),)


def test_silent_on_the_clean_machine() -> None:
    assert judge("ENV008", "clean_gpu_node").status is Status.PASS


def test_garbage_is_unknown() -> None:
    machine = recorded("clean_gpu_node").but({"read /proc/self/limits": [""]})
    assert judge("ENV008", machine).status is Status.UNKNOWN
