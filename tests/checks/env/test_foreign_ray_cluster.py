"""ENV009."""

import pytest

from checks.env.foreign_ray_cluster import foreign_ray_cluster
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Severity, Status
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Host
from skyrl_doctor.facts.ray_clusters import AddressFile, RayClusters, RayProcess
from skyrl_doctor.facts.sockets import Listeners, Socket
from support import judge, recorded

FILE = "/tmp/ray/ray_current_cluster"
WANTED = "; expected RAY_ADDRESS unset and a Ray directory of this job, so that ray.init() starts its own cluster"
HOST = Host(
    name="gpu-node-17", user="trainer", uid=1000, gid=1, pid=1, cpus=16, system="Linux", python="p", cwd="/", now=0.0
)
MINE, THEIRS = Socket("::", 6380, 1000), Socket("::", 6380, 1007)
IN_JOB = (RayProcess(5, "gcs_server", 1000, frozenset({"4711"})),)
OUT_OF_JOB = (RayProcess(5, "gcs_server", 1000, frozenset({"4600"})),)
FOREIGN = (RayProcess(6, "gcs_server", 1007),)
OWN_OTHER = "this user (trainer), but of another job or of none"
OTHER = "another user (uid 1007)"


def judged(
    *sockets: Socket, file: AddressFile | None = None, processes: tuple[RayProcess, ...] | None = (), **environ: str
) -> list[Finding]:
    clusters = RayClusters(file=file, processes=processes)
    variables = Environ({"SLURM_JOB_ID": "4711", "TMPDIR": "/tmp", **environ})
    return list(foreign_ray_cluster(clusters, Listeners(sockets), variables, HOST))


def found(
    *sockets: Socket, file: AddressFile | None = None, processes: tuple[RayProcess, ...] | None = (), **environ: str
) -> list[tuple[Severity, str]]:
    findings = judged(*sockets, file=file, processes=processes, **environ)
    return [(finding.severity, finding.message.removesuffix(WANTED)) for finding in findings]


def left(address: str | None, uid: int | None = 1000) -> AddressFile:
    return AddressFile(FILE, address, uid)


def test_nothing_of_ray_is_fine() -> None:
    assert found() == []
    assert found(RAY_ADDRESS="") == []
    assert found(processes=None) == []


def test_other_users_clusters_alone_do_no_harm() -> None:
    assert found(THEIRS, processes=FOREIGN) == []


def test_local_starts_a_cluster_whatever_lies_around() -> None:
    assert found(THEIRS, file=left("gpu-node-17:6380", 1007), RAY_ADDRESS="local") == []


@pytest.mark.parametrize(
    ("address", "sockets", "severity", "says"),
    [
        ("10.2.3.17:6380", (THEIRS,), Severity.ERROR, f"leads to a cluster of {OTHER}"),
        ("ray://localhost:6380", (THEIRS,), Severity.ERROR, f"leads to a cluster of {OTHER}"),
        ("10.2.3.17:6380", (MINE,), Severity.WARNING, f"leads to a cluster of {OWN_OTHER}"),
        ("gpu-node-17:6380", (), Severity.ERROR, "names this node, but no process listens on port 6380"),
        ("127.0.0.1:6380", (), Severity.ERROR, "names this node, but no process listens on port 6380"),
    ],
)
def test_judges_the_cluster_that_the_variable_names(
    address: str, sockets: tuple[Socket, ...], severity: Severity, says: str
) -> None:
    assert found(*sockets, RAY_ADDRESS=address) == [(severity, f"RAY_ADDRESS={address} {says}")]


def test_of_a_cluster_elsewhere_it_says_that_the_run_joins_it() -> None:
    assert found(RAY_ADDRESS="head:6380") == [
        (Severity.WARNING, "RAY_ADDRESS=head:6380: the run will join that cluster")
    ]


@pytest.mark.parametrize("address", ["garbage", "node:", "10.0.0.1:port"])
def test_finds_an_address_that_ends_ray(address: str) -> None:
    assert found(RAY_ADDRESS=address) == [
        (Severity.ERROR, f"RAY_ADDRESS={address} is not host:port, and ray.init() raises ValueError")
    ]


def test_a_cluster_of_this_very_job_is_fine() -> None:
    assert found(MINE, processes=IN_JOB, RAY_ADDRESS="gpu-node-17:6380") == []
    assert found(MINE, processes=IN_JOB, file=left("10.2.3.17:6380")) == []
    assert found(processes=IN_JOB, RAY_ADDRESS="auto") == []
    assert found(Socket("::", 6379, 1000), processes=IN_JOB) == []


@pytest.mark.parametrize(
    ("file", "sockets", "severity", "says"),
    [
        (
            left("10.2.3.17:6380"),
            (),
            Severity.ERROR,
            "this user, names 10.2.3.17:6380, but no process listens there on this node: ray.init() waits for it and fails",
        ),
        (
            left("10.2.3.17:6380"),
            (MINE,),
            Severity.WARNING,
            f"this user, names 10.2.3.17:6380, a cluster of {OWN_OTHER}",
        ),
        (left("10.2.3.17:6380"), (THEIRS,), Severity.ERROR, f"this user, names 10.2.3.17:6380, a cluster of {OTHER}"),
        (
            left("10.2.3.17:6380", 1007),
            (THEIRS,),
            Severity.ERROR,
            f"another user (uid 1007), names 10.2.3.17:6380, a cluster of {OTHER}",
        ),
        (
            left("10.2.3.17:6380", None),
            (MINE,),
            Severity.ERROR,
            f"an unknown user, names 10.2.3.17:6380, a cluster of {OWN_OTHER}",
        ),
        (left(""), (), Severity.ERROR, "this user, contains '', which is not host:port, and ray.init() raises"),
        (
            left("rubbish"),
            (),
            Severity.ERROR,
            "this user, contains 'rubbish', which is not host:port, and ray.init() raises",
        ),
        (left(None, 1007), (), Severity.ERROR, "another user (uid 1007), cannot be read, and ray.init() raises"),
    ],
)
def test_judges_the_file_that_ray_follows(
    file: AddressFile, sockets: tuple[Socket, ...], severity: Severity, says: str
) -> None:
    assert found(*sockets, file=file, processes=OUT_OF_JOB) == [(severity, f"{FILE}, owned by {says}")]
    assert found(*sockets, file=file, processes=OUT_OF_JOB, RAY_ADDRESS="auto")[0] == (
        severity,
        f"{FILE}, owned by {says}",
    )


@pytest.mark.parametrize(
    ("processes", "severity", "says"),
    [
        ((), Severity.WARNING, "but no Ray cluster was found on this node: ray.init() raises ConnectionError"),
        (None, Severity.WARNING, "but no Ray cluster was found on this node: ray.init() raises ConnectionError"),
        (FOREIGN, Severity.ERROR, f"and process 6 is the control server of {OTHER}"),
        ((*IN_JOB, *FOREIGN), Severity.ERROR, f"and process 6 is the control server of {OTHER}"),
        (OUT_OF_JOB, Severity.WARNING, f"and process 5 is the control server of {OWN_OTHER}"),
    ],
)
def test_auto_takes_any_cluster_that_it_sees(
    processes: tuple[RayProcess, ...] | None, severity: Severity, says: str
) -> None:
    assert found(processes=processes, RAY_ADDRESS="auto") == [(severity, f"RAY_ADDRESS=auto, {says}")]


def test_the_cure_is_the_trainer_s_own() -> None:
    (finding,) = judged(RAY_ADDRESS="head:6380")
    assert finding.remedy == Remedy(
        kind=RemedyKind.FIX_ENV,
        summary="start a cluster that only this job uses",
        commands=("unset RAY_ADDRESS",),
        settings={"RAY_TMPDIR": "/tmp/r4711"},
        safe=True,
    )


@pytest.mark.parametrize(
    ("file", "sockets", "is_removed"),
    [
        (left("10.2.3.17:6380"), (), True),
        (left(""), (), True),
        (left("10.2.3.17:6380"), (MINE,), False),
        (left("10.2.3.17:6380", 1007), (), False),
    ],
)
def test_outside_of_a_job_one_s_own_stale_file_goes_and_others_are_left_alone(
    file: AddressFile, sockets: tuple[Socket, ...], is_removed: bool
) -> None:
    (finding,) = judged(*sockets, file=file, SLURM_JOB_ID="")
    assert finding.remedy == Remedy(
        kind=RemedyKind.FIX_ENV,
        summary="start a cluster that only this job uses",
        commands=(f"rm {FILE}",) if is_removed else (),
        settings={} if is_removed else {"RAY_TMPDIR": "/tmp/r-1000"},
        safe=not is_removed,
    )


FOREIGN_FILE = Finding(
    message=f"{FILE}, owned by another user (uid 1007), names 10.2.3.17:6379, a cluster of another user (uid 1007){WANTED}",
    remedy=Remedy(
        kind=RemedyKind.FIX_ENV,
        summary="start a cluster that only this job uses",
        settings={"RAY_TMPDIR": "/tmp/r4711"},
        safe=True,
    ),
)
FOREIGN_PORT = Finding(
    message="port 6379 of this node is used by another user (uid 1007), so `ray start --head` without --port fails; expected a port that only this job uses",
    severity=Severity.INFO,
    remedy=Remedy(
        kind=RemedyKind.FIX_ENV,
        summary="only if the job runs `ray start`: give it its own ports",
        commands=("ray start --head --port=29422 --ray-client-server-port=29423",),
    ),
)


def test_the_client_server_has_a_port_too() -> None:
    (finding,) = judged(Socket("::", 10001, 1007))
    assert finding.message == (
        "port 10001 of this node is used by another user (uid 1007), so `ray start --head` without --ray-client-server-port fails; expected a port that only this job uses"
    )


def test_a_directory_that_ray_may_not_write_into() -> None:
    closed = RayClusters(closed=AddressFile("/tmp/ray", None, 1007))
    environ = Environ({"SLURM_JOB_ID": "4711", "TMPDIR": "/tmp", "RAY_ADDRESS": "local"})
    (finding,) = foreign_ray_cluster(closed, Listeners(()), environ, HOST)
    says = "/tmp/ray, owned by another user (uid 1007), is not writable, so Ray cannot create a session there"
    assert (finding.severity, finding.message) == (Severity.ERROR, says + WANTED)
    assert finding.remedy is not None
    assert finding.remedy.settings == {"RAY_TMPDIR": "/tmp/r4711"}


def test_reproduces_a_directory_of_somebody_else_s() -> None:
    shut = recorded("foreign_ray_cluster").but({"writable /tmp/ray": False})
    assert (
        judge("ENV009", shut)
        .findings[0]
        .message.startswith("/tmp/ray, owned by another user (uid 1007), is not writable")
    )


def test_reproduces_on_a_recording() -> None:
    assert judge("ENV009", "foreign_ray_cluster") == Outcome(
        id="ENV009", slug="foreign-ray-cluster", status=Status.FAIL, findings=(FOREIGN_FILE, FOREIGN_PORT)
    )


def test_reproduces_a_cluster_that_is_gone() -> None:
    outcome = judge("ENV009", "dead_ray_cluster")
    says = "names 10.2.3.17:6379, but no process listens there on this node: ray.init() waits for it and fails"
    assert [finding.message for finding in outcome.findings] == [f"{FILE}, owned by this user, {says}{WANTED}"]


def test_silent_on_the_clean_machine() -> None:
    assert judge("ENV009", "clean_gpu_node").status is Status.PASS


def test_garbage_is_unknown() -> None:
    machine = recorded("clean_gpu_node").but({"read /proc/net/tcp": ["garbage"]})
    assert judge("ENV009", machine).status is Status.UNKNOWN
