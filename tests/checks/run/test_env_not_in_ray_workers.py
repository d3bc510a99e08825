"""RUN002."""

import pytest

from checks.run.env_not_in_ray_workers import env_not_in_ray_workers
from plans import plan
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Location, Remedy, RemedyKind, Severity, Status
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.ray_workers import RayWorkers
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan
from support import judge, plan_of, recorded

URL = "SANDBOX_REMOTE_RUNTIME_API_URL"
READS = "the clients of the sandbox runtime read it"
ENVIRON = Environ({URL: "http://cpu1:8000", "PATH": "/bin"})
OWN = RayWorkers(names=frozenset(ENVIRON), of="the Ray that the trainer starts")
FOREIGN = RayWorkers(names=None, of="RAY_ADDRESS=10.0.0.1:6379")
EARLIER = RayWorkers(names=frozenset({"PATH"}), of="the raylet of this job (process 5)")
PASS = "ray_kwargs.ray_init.runtime_env.env_vars"


def verl(*words: str) -> Plan:
    return plan(" ".join(["python3 -m verl.trainer.main_ppo", *words]), "run.sh")


def lost(name: str, seen: str) -> Finding:
    return Finding(
        message=f"{name} is set here, but Ray's workers will not have it: {seen}; expected it there, because {READS}",
        severity=Severity.ERROR,
        remedy=Remedy(
            kind=RemedyKind.FIX_CONFIG,
            summary="pass it to the workers, or export it before Ray is started",
            settings={f"+{PASS}.{name}": f"${name}"},
        ),
    )


def judged(made: Plan, workers: RayWorkers) -> list[Finding]:
    return list(env_not_in_ray_workers(made, ENVIRON, workers))


def test_what_is_inherited_is_there() -> None:
    assert judged(verl(), OWN) == []


def test_another_s_cluster_has_nothing_of_ours() -> None:
    assert judged(verl(), FOREIGN) == [
        lost(URL, "the run joins RAY_ADDRESS=10.0.0.1:6379, which this job did not start")
    ]


def test_what_may_do_without_is_a_warning() -> None:
    environ = Environ({"HF_TOKEN": "hf_x", "NO_PROXY": "cpu1"})
    found = env_not_in_ray_workers(verl(), environ, FOREIGN)
    assert [(one.severity, one.message.partition(" ")[0]) for one in found] == [
        (Severity.WARNING, "HF_TOKEN"),
        (Severity.WARNING, "NO_PROXY"),
    ]


def test_ray_that_was_started_before_the_variable_was_set() -> None:
    assert judged(verl(), EARLIER) == [lost(URL, "the raylet of this job (process 5) was started without it")]


def test_what_is_passed_is_there() -> None:
    assert judged(verl(f"+{PASS}.{URL}=http://cpu1:8000"), FOREIGN) == []
    assert judged(verl(f'"+{PASS}.{URL}=$WHATEVER"'), FOREIGN) == []


def test_ray_takes_texts_alone() -> None:
    assert judged(verl(f"+{PASS}.NCCL_DEBUG=1"), OWN) == [
        config_finding(
            f"{PASS}.NCCL_DEBUG = 1 is not a string, and Ray raises TypeError for it; expected '\"1\"'",
            Location("run.sh", 1, f"{PASS}.NCCL_DEBUG"),
            {f"{PASS}.NCCL_DEBUG": "'\"1\"'"},
        )
    ]
    assert judged(verl(f"""'+{PASS}.NCCL_DEBUG="1"'"""), OWN) == []
    (nothing,) = judged(verl(f"+{PASS}.NCCL_DEBUG=null"), OWN)
    assert (
        nothing.message == f"{PASS}.NCCL_DEBUG = None is not a string, and Ray raises TypeError for it; expected '\"\"'"
    )


def test_in_the_words_that_a_configuration_of_ours_adds_for_verl_too() -> None:
    toml = f"""
    [trainer]
    verl_overrides = ["trainer.device=cpu", "+{PASS}.NCCL_DEBUG=1", "++{PASS}={{A: true, B: x}}", "+{PASS}.C='1'", "=["]
    """
    made = plan(toml, "run.toml")
    assert made.is_of("run-config")
    said = "is not a string, and Ray raises TypeError for it; expected"
    assert judged(made, OWN) == [
        config_finding(
            f"{PASS}.{name} = {value} {said} '{str(value).lower()}'",
            Location("run.toml", 3, f"{PASS}.{name}"),
            summary=f"quote it in trainer.verl_overrides: +{PASS}.{name}='{str(value).lower()}'",
        )
        for name, value in (("NCCL_DEBUG", 1), ("A", True))
    ]


def test_our_own_trainer_hands_on_what_is_not_inherited() -> None:
    assert judged(plan_of(env={"A": "1"}), FOREIGN) == []


def test_without_a_plan_nobody_needs_anything() -> None:
    with pytest.raises(NotApplicable):
        judged(Plan(), FOREIGN)


def test_reproduces_on_a_recording() -> None:
    outcome = judge("RUN002", "ray_started_too_early", plan=verl())
    seen = "the raylet of this job (process 20677) was started without it"
    assert (outcome.status, outcome.findings) == (Status.FAIL, (lost(URL, seen), lost("SANDBOX_API_KEY", seen)))


def test_silent_on_the_clean_machine() -> None:
    assert judge("RUN002", "clean_gpu_node", plan=verl()).status is Status.PASS


def test_a_raylet_that_cannot_be_asked_is_unknown() -> None:
    path = "/proc/20677/environ"
    hidden = recorded("ray_started_too_early").but({f"read {path}": {"unreadable": path, "why": "Permission denied"}})
    assert judge("RUN002", hidden, plan=verl()).status is Status.UNKNOWN
    no_tool = recorded("ray_started_too_early").but(
        {"run pgrep -l -x 'gcs_server|raylet'": {"out": ["garbage"], "rc": 0}}
    )
    assert judge("RUN002", no_tool, plan=verl()).status is Status.UNKNOWN
