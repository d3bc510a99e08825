"""ENV007."""

from dataclasses import replace

import pytest

from checks.env.host_memory_too_small import host_memory_too_small
from plans import plan as made
from skyrl_doctor.budget.job import memory_job
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Location, Outcome, Remedy, RemedyKind, Role, Severity, Status
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.facts.memory import Ceiling, HostMemory
from skyrl_doctor.host_need import host_need
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.plan.model import Plan, Value
from skyrl_train.memory import host_memory, known_config, shape_from_config
from support import judge, plan_of, recorded

GIB = 1 << 30
GPU, RUNTIME = Roles(frozenset({Role.GPU}), asked=True), Roles(frozenset({Role.RUNTIME}), asked=True)
NOT_HERE = "/home/trainer/.cache/huggingface/hub/models--Qwen--Qwen2.5-Coder-1.5B/snapshots"
SMALL = plan_of(
    model__path="Qwen/Qwen2.5-Coder-1.5B",
    actor__param_offload=True,
    actor__optimizer_offload=True,
    slurm__trainer_memory_mib=8192,
)
JOB = "the memory limit of /sys/fs/cgroup/system.slice/slurmstepd.scope/job_4711"
SHM = Finding(
    message="/dev/shm has 0.06 GiB free, but Ray's object store takes 9.3 GiB: Ray puts it on disk, into its temporary directory; expected 9.3 GiB or more",
    severity=Severity.WARNING,
    remedy=Remedy(
        kind=RemedyKind.FIX_ENV,
        summary="remove your old files from /dev/shm, or start the container with a larger one",
        commands=("ls -l /dev/shm",),
    ),
)
UNKNOWN_MODEL = Finding(
    message=f"this job has 8.0 GiB of host memory ({JOB}); expected 16 GiB or more, because only toy models train with less",
    severity=Severity.WARNING,
    remedy=Remedy(
        kind=RemedyKind.FIX_CONFIG, summary="request more memory from Slurm", commands=("sbatch --mem=16G …",)
    ),
)
KNOWN_MODEL = Finding(
    message=f"this job has 8.0 GiB of host memory ({JOB}); expected about 29 GiB for 1.5B parameters on 1 GPU (17 GiB of it during the whole run)",
    evidence=("processes: 10.0 GiB", "object store: 2.0 GiB", "weights and optimiser: 16.8 GiB"),
    location=Location("plan.toml", None, "slurm.trainer_memory_mib"),
    remedy=Remedy(
        kind=RemedyKind.FIX_CONFIG,
        summary="request more memory from Slurm",
        settings={"slurm.trainer_memory_mib": "29696"},
    ),
)


def memory(gib: float, *, shm_gib: float | None = 64, available_gib: float = 200) -> HostMemory:
    return HostMemory(
        available_bytes=int(available_gib * GIB),
        ceilings=(Ceiling(256 * GIB, "the node's memory"), Ceiling(int(gib * GIB), "SLURM_MEM_PER_NODE")),
        shm_free_bytes=None if shm_gib is None else int(shm_gib * GIB),
    )


def without_model(name: str) -> Machine:
    places = (NOT_HERE, "Qwen/Qwen2.5-Coder-1.5B")
    return recorded(name).but({f"list {place}": {"absent": place} for place in places})


def found(gib: float, plan: Plan | None = None, roles: Roles = GPU) -> list[tuple[Severity, str]]:
    findings = host_memory_too_small(memory(gib), plan or Plan(), roles, Environ({}))
    return [(finding.severity, finding.message) for finding in findings]


def test_of_an_unknown_model_it_says_only_what_is_known() -> None:
    seen = "this job has 15.9 GiB of host memory (SLURM_MEM_PER_NODE)"
    assert found(15.9) == [
        (Severity.WARNING, f"{seen}; expected 16 GiB or more, because only toy models train with less")
    ]
    assert found(16) == []
    assert found(15.9, plan_of(model__path="/models/mine")) == found(15.9)


@pytest.mark.parametrize(
    ("gib", "severity"), [(16, Severity.ERROR), (17, Severity.WARNING), (28, Severity.WARNING), (29, None)]
)
def test_is_an_error_only_where_what_is_off_loaded_does_not_fit(gib: float, severity: Severity | None) -> None:
    assert [level for level, _ in found(gib, SMALL)] == ([severity] if severity else [])


SCRIPT = (
    "#!/bin/bash\n#SBATCH --gres=gpu:8\n#SBATCH --mem=130G\npython3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo "
    "data.max_prompt_length=1024 data.max_response_length=2048 trainer.n_gpus_per_node=8 "
    "actor_rollout_ref.model.path=Qwen/Qwen3-8B actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 "
    "actor_rollout_ref.rollout.name=vllm actor_rollout_ref.actor.fsdp_config.param_offload={offload} "
    "actor_rollout_ref.actor.fsdp_config.optimizer_offload={offload}\n"
)


@pytest.mark.parametrize(
    ("offload", "message", "mem"),
    [
        (True, "expected about 187 GiB for Qwen/Qwen3-8B on 8 GPUs (92 GiB of it during the whole run)", "187G"),
        (False, "expected about 95 GiB for Qwen/Qwen3-8B on 8 GPUs", "96G"),
    ],
)
def test_the_figure_is_that_of_the_budget_and_counts_offloading(offload: bool, message: str, mem: str) -> None:
    plan = made(SCRIPT.format(offload=offload), "run.sh")
    (finding,) = host_memory_too_small(memory(64), plan, GPU, Environ({}))
    seen = "this job has 64.0 GiB of host memory (SLURM_MEM_PER_NODE)"
    assert (finding.severity, finding.message) == (
        Severity.ERROR if offload else Severity.WARNING,
        f"{seen}; {message}",
    )
    assert finding.remedy is not None
    assert finding.remedy.settings == {"#SBATCH --mem": mem}
    shape = shape_from_config(known_config("Qwen/Qwen3-8B") or {})
    need = host_need(plan, None)
    assert need is not None
    assert need.gib == pytest.approx(8 * host_memory(shape, memory_job(plan)).total / GIB)


def test_an_adapter_needs_less_and_its_sleeping_servers_more() -> None:
    plan = plan_of(
        model__path="Qwen/Qwen2.5-7B",
        model__lora_rank=8,
        actor__param_offload=False,
        actor__optimizer_offload=True,
        rollout__free_cache_engine=True,
        slurm__gpus_per_node=2,
        trainer__save_every_steps=-1,
    )
    (finding,) = host_memory_too_small(memory(32), plan, GPU, Environ({}))
    assert finding.evidence == (
        "processes: 14.0 GiB",
        "object store: 2.0 GiB",
        "weights and optimiser: 26.1 GiB",
        "sleeping model servers: 26.1 GiB",
    )
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize(("shm_gib", "quiet"), [(64, True), (9.4, True), (9.3, False), (0, False), (None, False)])
def test_finds_an_object_store_that_does_not_fit(shm_gib: float | None, quiet: bool) -> None:
    findings = list(host_memory_too_small(memory(200, shm_gib=shm_gib), Plan(), GPU, Environ({})))
    assert (not findings) is quiet


def test_a_small_node_needs_little_shared_memory() -> None:
    assert list(host_memory_too_small(memory(20, shm_gib=7, available_gib=20), Plan(), GPU, Environ({}))) == []


@pytest.mark.parametrize(
    ("size", "environ", "severity"),
    [
        (20 * 10**9, {}, Severity.ERROR),
        (20 * 10**9, {"RAY_OBJECT_STORE_ALLOW_SLOW_STORAGE": "1"}, Severity.WARNING),
        (10**10, {}, Severity.WARNING),
        (10**9, {}, None),
    ],
)
def test_a_store_of_the_plan_s_own_size_may_end_ray(
    size: int, environ: dict[str, str], severity: Severity | None
) -> None:
    key = "ray_kwargs.ray_init.object_store_memory"
    place = Location("run.sh", 3, key)
    plan = Plan(("run.sh",), "verl", own={key: Value(key, size, place)})
    findings = host_memory_too_small(memory(200, shm_gib=2), plan, GPU, Environ(environ))
    assert [(finding.severity, finding.location) for finding in findings] == ([(severity, place)] if severity else [])


@pytest.mark.parametrize(("asked", "found"), [(16384, 1), (28672, 0)])
def test_a_login_node_is_not_the_node_of_the_runtime_job(asked: int, found: int) -> None:
    """Its own memory says nothing about the job, which asks for what its sandboxes need."""
    plan = plan_of(agent__max_parallel=7, sandbox__memory_mib=4096, slurm__runtime_memory_mib=asked)
    here = HostMemory(available_bytes=16 * GIB, ceilings=(Ceiling(16 * GIB, "the node's memory", of_node=True),))
    findings = host_memory_too_small(here, plan, RUNTIME, Environ({}))
    assert len(list(findings)) == found


def test_adds_up_sandboxes_on_a_runtime_node() -> None:
    plan = plan_of(agent__max_parallel=7, sandbox__memory_mib=4096)
    message = "this job has 16.0 GiB of host memory (SLURM_MEM_PER_NODE); expected 28.0 GiB, because 7 sandboxes may use 4096 MiB each"
    assert found(16, plan, RUNTIME) == [(Severity.WARNING, message)]
    assert found(28, plan, RUNTIME) == []
    assert found(1, Plan(), RUNTIME) == []


@pytest.mark.parametrize(("plan", "finding"), [(Plan(), UNKNOWN_MODEL), (SMALL, KNOWN_MODEL)])
def test_reproduces_on_a_recording(plan: Plan, finding: Finding) -> None:
    assert judge("ENV007", without_model("small_job_memory"), plan=plan) == Outcome(
        id="ENV007", slug="host-memory-too-small", status=Status.FAIL, findings=(finding, SHM)
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("ENV007", without_model("clean_gpu_node"), plan=SMALL).status is Status.PASS


def test_is_unknown_where_the_limit_cannot_be_read() -> None:
    path = "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_4711/memory.max"
    machine = recorded("clean_gpu_node").but({f"read {path}": {"unreadable": path, "why": "Permission denied"}})
    assert judge("ENV007", machine).status is Status.UNKNOWN


LOGIN = Roles(frozenset({Role.LOGIN}), asked=True)


def test_a_login_node_judges_the_memory_that_a_launch_requests() -> None:
    """Not its own memory, which is small here."""
    assert found(1, SMALL, LOGIN) == [
        (
            Severity.ERROR,
            "the trainer job requests 8.0 GiB of host memory (slurm.trainer_memory_mib = 8192); expected about 29 GiB for 1.5B parameters on 1 GPU (17 GiB of it during the whole run)",
        )
    ]
    assert found(1, plan_of(model__path="Qwen/Qwen2.5-Coder-1.5B", slurm__trainer_memory_mib=65536), LOGIN) == []


def test_a_login_node_knows_nothing_of_other_jobs() -> None:
    for plan in (Plan(), replace(SMALL, dialect="verl")):
        with pytest.raises(NotApplicable):
            found(1, plan, LOGIN)
