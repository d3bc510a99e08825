"""TRN023."""

import dataclasses

import pytest

from checks.trn.weight_socket_taken import weight_socket_taken
from plans import MIG20, example, plan
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Severity, Status
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Host
from skyrl_doctor.facts.interpreter import Interpreter, TrainingPython
from skyrl_doctor.facts.weight_sockets import WeightSocket, WeightSockets
from skyrl_doctor.plan.model import Plan
from support import judge

HOST = Host(
    name="n", user="ada", uid=1000, gid=1000, pid=7, cpus=8, system="Linux", python="python", cwd="/", now=0.0
)  # fmt: skip
PYTHON = Interpreter(
    python=TrainingPython("/p", "x"), version="3.12.1", implementation="cpython", platform="linux", machine="x86_64",
    prefix="", base_prefix="", include="", header=True, packages={"verl": "0.9.1"},
)  # fmt: skip
GPUS = "trainer.n_gpus_per_node=2"
VERL = plan(f"python -m verl.trainer.main_ppo actor_rollout_ref.rollout.name=vllm {GPUS} trainer.nnodes=1\n", "run.sh")
SGLANG = plan("python -m verl.trainer.main_ppo actor_rollout_ref.rollout.name=sglang\n", "run.sh")
SEVERAL = plan(
    f"python -m verl.trainer.main_ppo actor_rollout_ref.rollout.name=vllm {GPUS} trainer.nnodes=2\n", "run.sh"
)
PATH = "/tmp/rl-colocate-zmq-{}-replica-{}-rank-{}.sock"


def file(
    replica: int = 0, rank: int = 0, *, job: str = "01000000", uid: int = 1007, is_live: bool = False
) -> WeightSocket:
    path = PATH.format(job, replica, rank)
    return WeightSocket(path=path, job=job, replica=replica, rank=rank, uid=uid, is_live=is_live)


def judged(
    *files: WeightSocket,
    made: Plan = VERL,
    uid: int = 1000,
    removers: frozenset[int] | None = frozenset({0}),
    environ: dict[str, str] | None = None,
    interpreter: Interpreter | None = PYTHON,
) -> list[Finding]:
    host, sockets = dataclasses.replace(HOST, uid=uid), WeightSockets(files=files, removers=removers)
    return list(weight_socket_taken(made, sockets, host, Environ(environ or {}), interpreter))


def left(*files: WeightSocket, severity: Severity) -> Finding:
    more = f" (and {len(files) - 1} more)" if len(files) > 1 else ""
    when = "" if severity is Severity.ERROR else ", if this run uses the same name"
    return Finding(
        message=f"{files[0].path}{more} belongs to uid 1007: no process uses it and this user cannot remove it, so verl fails in its first weight sync{when}; expected no such file",
        evidence=tuple(one.path for one in files),
        severity=severity,
        remedy=Remedy(
            kind=RemedyKind.ASK_ADMIN,
            summary="ask uid 1007 or the administrators to remove /tmp/rl-colocate-zmq-*.sock, or to give each job its own /tmp (Slurm's job_container/tmpfs)",
        ),
    )


def live(one: WeightSocket) -> Finding:
    return Finding(
        message=f"{one.path} is in use by uid {one.uid}: another run of this node syncs weights over a socket of the same name as this run's; expected one run of verl in one /tmp",
        evidence=(one.path,),
        severity=Severity.WARNING,
        remedy=Remedy(
            kind=RemedyKind.RETRY,
            summary="start after that run has ended, on another node, or with a /tmp of its own (Slurm's job_container/tmpfs)",
        ),
    )


def test_a_file_of_another_user_that_the_run_needs_is_an_error() -> None:
    assert judged(file()) == [left(file(), severity=Severity.ERROR)]
    both = file(0, 1), file()
    assert judged(*both) == [left(file(), file(0, 1), severity=Severity.ERROR)]


def test_a_file_that_the_run_may_not_need_is_a_warning() -> None:
    warning = left(file(), severity=Severity.WARNING)
    assert judged(file(), interpreter=None) == [warning]
    assert judged(file(), made=SEVERAL) == [warning]
    assert judged(file(), environ={"RAY_ADDRESS": "10.0.0.1:6379"}) == [warning]
    assert judged(file(1)) == [left(file(1), severity=Severity.WARNING)]


def test_a_file_that_the_run_does_not_need_is_nothing() -> None:
    assert judged(file(2), file(0, 2), file(job="02000000")) == []


def test_another_job_of_a_cluster_that_the_run_joins_is_a_warning() -> None:
    other = file(job="02000000")
    assert judged(other, environ={"RAY_ADDRESS": "auto"}) == [left(other, severity=Severity.WARNING)]
    assert judged(other, environ={"RAY_ADDRESS": "local"}) == []


def test_a_file_that_verl_removes_is_nothing() -> None:
    assert judged(file(uid=1000)) == []
    assert judged(file(), uid=0) == []
    assert judged(file(), removers=None) == []


@pytest.mark.parametrize("uid", [1000, 1007])
def test_a_socket_in_use_is_a_warning_for_plain_verl(uid: int) -> None:
    used = file(uid=uid, is_live=True)
    assert judged(used) == [live(used)]
    assert judged(used, made=example(MIG20)) == []


def test_other_engines_and_versions_have_no_such_socket() -> None:
    with pytest.raises(NotApplicable, match="sends no weights from verl to vLLM"):
        judged(file(), made=SGLANG)
    with pytest.raises(NotApplicable, match=r"verl 0\.7\.1 names the socket by the GPU"):
        judged(file(), interpreter=dataclasses.replace(PYTHON, packages={"verl": "0.7.1"}))
    with pytest.raises(NotApplicable, match="no configuration given"):
        judged(file(), made=Plan())


def test_reproduces_on_a_recording() -> None:
    used = file(0, 1, uid=1000, is_live=True)
    assert judge("TRN023", "weight_socket_left", plan=VERL) == Outcome(
        id="TRN023",
        slug="weight-socket-taken",
        status=Status.FAIL,
        findings=(left(file(), severity=Severity.ERROR), live(used)),
    )
    own = judge("TRN023", "weight_socket_left", plan=example(MIG20))
    assert own.findings == (left(file(), severity=Severity.ERROR),)


def test_silent_on_the_clean_machine() -> None:
    for made in (VERL, example(MIG20)):
        assert judge("TRN023", "clean_gpu_node", plan=made).status is Status.PASS
    assert judge("TRN023", "weight_socket_left").status is Status.SKIP
