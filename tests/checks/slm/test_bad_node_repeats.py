"""SLM002."""

from checks.slm.bad_node_repeats import bad_node_repeats
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity, Status
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Host, Roles
from skyrl_doctor.facts.launches import Failure, Launches
from support import judge, plan_of, recorded

HOST = Host(name="gpu1.site", user="u", uid=1, gid=1, pid=1, cpus=1, system="Linux", python="p", cwd="/", now=0.0)
TWICE = (Failure("gpu1", "1_launch", "GPU003"), Failure("gpu1", "2_launch", "ended the run"))
ONCE = (Failure("gpu2", "1_launch", "ended the run"),)


def judged(*failures: Failure, role: Role = Role.LOGIN, exclude: tuple[str, ...] = (), **environ: str) -> list[Finding]:
    plan = plan_of(slurm__exclude=list(exclude))
    roles = Roles(frozenset({role}), asked=True)
    return list(bad_node_repeats(plan, Launches(failures=failures), roles, HOST, Environ(environ)))


def test_a_node_that_fails_twice_is_named_before_anything_is_submitted() -> None:
    assert judged(*TWICE, *ONCE, exclude=("gpu9",)) == [
        Finding(
            message="gpu1 failed 2 earlier launches: GPU003, ended the run; expected it to be excluded or repaired",
            evidence=("1_launch: GPU003", "2_launch: ended the run"),
            severity=Severity.WARNING,
            location=plan_of(slurm__exclude=[]).place("slurm.exclude"),
            remedy=Remedy(
                kind=RemedyKind.EXCLUDE_NODE,
                summary="exclude it and inform the administrators",
                commands=("sbatch --exclude=gpu9,gpu1 …",),
                settings={"slurm.exclude": '["gpu9", "gpu1"]'},
            ),
        )
    ]


def test_once_is_enough_on_the_node_itself() -> None:
    assert [one.message for one in judged(*ONCE, role=Role.GPU, SLURMD_NODENAME="gpu2")] == [
        "this node, gpu2, failed 1 earlier launch: ended the run; expected it to be excluded or repaired"
    ]
    assert judged(*ONCE, role=Role.GPU) == []
    assert [one.message.partition(" failed")[0] for one in judged(*TWICE, role=Role.GPU)] == ["this node, gpu1,"]


def test_an_excluded_node_is_none_of_it() -> None:
    assert judged(*TWICE, exclude=("GPU1.other",)) == []


def test_reproduces_on_a_recording() -> None:
    said = {role: judge("SLM002", "node_fails_again", role=role) for role in (Role.GPU, Role.LOGIN)}
    assert [one.message for one in said[Role.GPU].findings] == [
        "this node, gpu-node-17.cluster, failed 2 earlier launches: GPU003, ended the run; expected it to be excluded or repaired"
    ]
    assert [(one.message.partition(";")[0], one.evidence) for one in said[Role.LOGIN].findings] == [
        (
            "gpu-node-17.cluster failed 2 earlier launches: GPU003, ended the run",
            ("20261119_101500_launch: GPU003", "20261120_081200_launch: ended the run"),
        ),
        (
            "gpu-node-21 failed 2 earlier launches: NODE_FAIL, NODE_FAIL",
            ("job 4650: NODE_FAIL", "job 4655: NODE_FAIL"),
        ),
    ]


def test_silent_on_the_clean_machine() -> None:
    assert judge("SLM002", "clean_gpu_node").status is Status.SKIP
    none = {"list /home/trainer/run/.skyrl_jobs": ["20261120_221500_launch"]}
    assert judge("SLM002", recorded("node_fails_again").but({**none, SACCT: MISSING})).status is Status.PASS


SACCT = (
    "run sacct --allocations --noheader --parsable2 --starttime=now-14days --state=NODE_FAIL,BOOT_FAIL "
    "--format=JobID,State,NodeList"
)
MISSING = {"rc": None, "found": False}


def test_without_accounting_the_directories_tell() -> None:
    for answer in ({"rc": 1, "err": ["Slurm accounting storage is disabled"]}, {"rc": None, "timed_out": True}):
        outcome = judge("SLM002", recorded("node_fails_again").but({SACCT: answer}))
        assert [one.severity for one in outcome.findings] == [Severity.WARNING]


def test_launches_that_cannot_be_read_are_unknown() -> None:
    path = "/home/trainer/run/.skyrl_jobs"
    dead = recorded("node_fails_again").but({f"list {path}": {"unreadable": path, "why": "Stale file handle"}})
    assert judge("SLM002", dead).status is Status.UNKNOWN
