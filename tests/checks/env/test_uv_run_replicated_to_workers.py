"""ENV003."""

import pytest

from checks.env.uv_run_replicated_to_workers import uv_run_replicated_to_workers
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Location, Outcome, Remedy, RemedyKind, Role, Severity, Status
from skyrl_doctor.facts.ancestors import Ancestors, Process
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.plan.model import Plan, Value
from support import judge, plan_of

SWITCH = "RAY_ENABLE_UV_RUN_RUNTIME_ENV"
UV = Ancestors((Process(20, ("bash", "job.sh")), Process(10, ("/opt/uv", "run", "bash", "job.sh"))))
GPU, LOGIN = Roles(frozenset({Role.GPU}), asked=True), Roles(frozenset({Role.LOGIN}), asked=True)
REMEDY = Remedy(
    kind=RemedyKind.FIX_ENV,
    summary="let workers use the driver's interpreter",
    commands=(f"export {SWITCH}=0",),
    settings={SWITCH: "0"},
    safe=True,
)
TAIL = f"so Ray runs `uv run` for every worker; expected {SWITCH}=0"


def found(
    ancestors: Ancestors | None = UV, plan: Plan | None = None, roles: Roles = GPU, **environ: str
) -> list[Finding]:
    return list(uv_run_replicated_to_workers(ancestors, Environ(environ), plan or Plan(), roles))


def above(switch: str, severity: Severity) -> list[Finding]:
    message = f"parent process 10 of the doctor is `/opt/uv run bash job.sh`, and {switch}, {TAIL}"
    return [Finding(message=message, severity=severity, remedy=REMEDY)]


def test_a_run_that_asks_for_uv_in_its_workers_gets_no_warning() -> None:
    key = "ray_kwargs.ray_init.runtime_env.py_executable"
    for words in ("uv run --frozen", "uv -v run --frozen --extra vllm", "/opt/uv --directory /c run"):
        assert found(plan=Plan(("run.sh",), "verl", own={key: Value(key, words)})) == []
    assert found(plan=Plan(("run.sh",), "verl", own={key: Value(key, "/venv/bin/python")})) != []
    assert found(plan=Plan(("run.sh",), "verl", own={key: Value(key, "")})) != []


def test_finds_uv_run_above() -> None:
    assert found() == above(f"{SWITCH} is unset", Severity.WARNING)
    assert found(Ancestors((Process(20, ("bash",)), Process(1, ())))) == []
    assert found(None) == []


@pytest.mark.parametrize("value", ["0", "", "false", "no"])
def test_is_silent_where_the_hook_is_off(value: str) -> None:
    assert found(**{SWITCH: value}) == []


def test_switched_on_by_hand_it_ends_the_run_of_a_plan() -> None:
    plan = plan_of(python__launcher="python")
    assert found(plan=plan, **{SWITCH: "True"}) == above(f"{SWITCH}=True", Severity.ERROR)
    assert found(**{SWITCH: "1"}) == above(f"{SWITCH}=1", Severity.WARNING)


def test_a_hook_by_name_counts() -> None:
    hook = "ray._private.runtime_env.uv_runtime_env_hook.hook"
    (finding,) = found(**{SWITCH: "0", "RAY_RUNTIME_ENV_HOOK": hook})
    assert finding.message.partition("`, and ")[2] == f"RAY_RUNTIME_ENV_HOOK={hook} names the hook, {TAIL}"
    assert finding.remedy is not None
    assert finding.remedy.commands == (f"export {SWITCH}=0", "unset RAY_RUNTIME_ENV_HOOK")


def test_finds_it_in_the_plan_wherever_it_is_looked_at() -> None:
    place = Location("run.toml", 7, "python.launcher")
    plan = Plan(("run.toml",), "run-config", {"python.launcher": Value("python.launcher", "uv run", place)})
    message = f"`uv run` starts the driver, and {SWITCH} is unset, {TAIL}"
    wanted = [Finding(message=message, severity=Severity.WARNING, location=place, remedy=REMEDY)]
    assert found(None, plan) == wanted
    assert found(UV, plan, LOGIN) == wanted


def test_where_jobs_are_submitted_the_processes_above_do_not_count() -> None:
    assert found(roles=LOGIN) == []


def test_uv_run_that_started_the_doctor_alone_is_a_hint() -> None:
    doctor = Ancestors((Process(10, ("uv", "run", "skyrl-doctor", "preflight")),))
    gate = Ancestors((Process(10, ("uv", "run", "skyrl-doctor", "gate", "--", "python")),))
    (hint,) = found(doctor)
    assert hint.severity is Severity.INFO
    message = "parent process 10 of the doctor is `uv run skyrl-doctor preflight` (it started the doctor; this matters only if the trainer starts the same way), and "
    assert hint.message == f"{message}{SWITCH} is unset, {TAIL}"
    assert [finding.severity for finding in found(gate)] == [Severity.WARNING]


def test_prime_rl_has_no_ray() -> None:
    with pytest.raises(NotApplicable, match="prime-rl starts no Ray"):
        found(plan=Plan(("rl.toml",), "prime-rl"))


def test_reproduces_on_a_recording() -> None:
    message = f"parent process 29992 of the doctor is `/home/trainer/.local/bin/uv run --extra vllm bash train.sh`, and {SWITCH} is unset, {TAIL}"
    finding = Finding(message=message, severity=Severity.WARNING, remedy=REMEDY)
    assert judge("ENV003", "uv_run") == Outcome(
        id="ENV003", slug="uv-run-replicated-to-workers", status=Status.FAIL, findings=(finding,)
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("ENV003", "clean_gpu_node").status is Status.PASS
