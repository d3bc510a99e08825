"""GPU003."""

import dataclasses

import pytest

from checks.gpu.gpu_memory_taken import gpu_memory_taken
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Severity, Status
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.gpu import Gpu, Gpus, Memory, Owner, Process, Slice
from skyrl_doctor.facts.host import Host
from skyrl_doctor.plan.model import Plan
from support import judge, plan_of, recorded

HOST = Host(
    name="gpu-node-17",
    user="trainer",
    uid=1000,
    gid=1000,
    pid=30001,
    cpus=16,
    system="Linux",
    python="python",
    cwd="/",
    now=0.0,
)
JOB = Environ({"SLURM_JOB_ID": "4711", "CUDA_VISIBLE_DEVICES": "0"})
ELSEWHERE = Remedy(
    kind=RemedyKind.EXCLUDE_NODE,
    summary="use another node and inform the administrators of gpu-node-17",
    commands=("#SBATCH --exclude=gpu-node-17",),
)
MINE = Owner(name="python", uid=1000, job="4711")
HALF = plan_of(rollout__gpu_memory_utilization=0.5)


def gpu(used_mib: int, *processes: Process, index: int = 0) -> Gpu:
    memory = Memory(total_mib=80000, used_mib=used_mib, free_mib=80000 - used_mib)
    return Gpu(index=index, uuid=f"GPU-{index}", name="NVIDIA H100", memory=memory, processes=processes)


def judged(*gpus: Gpu, plan: Plan = HALF, environ: Environ = JOB) -> list[Finding]:
    return list(gpu_memory_taken(Gpus(source="nvml", gpus=gpus), plan, environ, HOST))


def test_reproduces_on_a_recording() -> None:
    seen = "pid 28412 (python3, uid 1002, Slurm job 4633) with 71680 MiB"
    assert judge("GPU003", "foreign_gpu_process", plan=HALF) == Outcome(
        id="GPU003",
        slug="gpu-memory-taken",
        status=Status.FAIL,
        findings=(
            Finding(
                message=f"GPU 0 (NVIDIA H100 80GB HBM3) is used by other processes: {seen}; 9349 of 81559 MiB are free; expected 40779 MiB free, otherwise vLLM does not start",
                evidence=(seen,),
                remedy=ELSEWHERE,
            ),
        ),
    )


@pytest.mark.parametrize("plan", [HALF, Plan()])
def test_warns_where_vllm_would_still_start_or_no_plan_says(plan: Plan) -> None:
    stranger = Process(pid=7, used_mib=900)
    assert judged(gpu(900, stranger), plan=plan) == [
        Finding(
            message="GPU 0 (NVIDIA H100) is used by other processes: pid 7 (owner hidden from here) with 900 MiB; 79100 of 80000 MiB are free; expected no other process",
            evidence=("pid 7 (owner hidden from here) with 900 MiB",),
            severity=Severity.WARNING,
            remedy=ELSEWHERE,
        )
    ]


def test_passes_over_its_own_processes_and_other_devices() -> None:
    own = Process(pid=7, used_mib=60000, owner=MINE)
    stranger = Process(pid=8, used_mib=70000, owner=Owner(name="x", uid=1, job=None))
    assert judged(gpu(60400, own), gpu(70400, stranger, index=1)) == []


@pytest.mark.parametrize("job", ["4700", None])
def test_names_a_leftover_of_the_same_user(job: str | None) -> None:
    left = Process(pid=7, used_mib=None, owner=Owner(name="python", uid=1000, job=job))
    (found,) = judged(gpu(900, left))
    where = f"Slurm job {job}" if job else "no Slurm job"
    assert found.evidence == (f"pid 7 (python, uid 1000, {where}) with an unknown amount",)
    assert found.remedy == Remedy(
        kind=RemedyKind.RETRY, summary="end your own processes, then start again", commands=("kill 7",)
    )


def test_outside_of_slurm_nothing_is_the_jobs_own() -> None:
    other = Process(pid=7, used_mib=900, owner=Owner(name="python", uid=1000, job=None))
    assert len(judged(gpu(900, other), environ=Environ({}))) == 1


def test_shortens_a_long_list() -> None:
    many = tuple(Process(pid=pid, used_mib=10) for pid in range(5))
    (found,) = judged(gpu(50, *many))
    assert "pid 2 (owner hidden from here) with 10 MiB and 2 more; " in found.message
    assert len(found.evidence) == 5


def test_finds_memory_that_nobody_listed_holds() -> None:
    assert judged(gpu(50000)) == [
        Finding(
            message="GPU 0 (NVIDIA H100) is used by other processes: 50000 MiB in use that no listed process holds; 30000 of 80000 MiB are free; expected 40000 MiB free, otherwise vLLM does not start",
            remedy=ELSEWHERE,
        )
    ]
    assert judged(gpu(1023)) == []
    assert judged(gpu(50000, Process(pid=7, owner=MINE))) == []


def test_the_job_s_own_process_is_known_by_the_sluid_of_slurm_26_05_too() -> None:
    own = dataclasses.replace(MINE, job="s0Q3XAHW5DPR00")
    with_sluid = Environ({"SLURM_JOB_ID": "4711", "SLURM_JOB_SLUID": "s0Q3XAHW5DPR00"})
    assert judged(gpu(50000, Process(pid=7, owner=own)), environ=with_sluid) == []
    assert len(judged(gpu(50000, Process(pid=7, owner=own)))) == 1


def test_takes_the_figures_of_the_slice() -> None:
    one = Slice(
        uuid="MIG-1",
        parent="GPU-0",
        index=0,
        profile="2g.20gb",
        memory=Memory(total_mib=19968, used_mib=18000, free_mib=1968),
    )
    parent = Gpu(
        index=0,
        uuid="GPU-0",
        name="NVIDIA A100",
        mig=True,
        slices=(one,),
        memory=Memory(total_mib=81920, used_mib=0, free_mib=81920),
    )
    (found,) = judged(parent)
    assert found.message == (
        "MIG slice 2g.20gb (MIG-1) is used by other processes: 18000 MiB in use by processes that cannot be listed; 1968 of 19968 MiB are free; expected 9984 MiB free, otherwise vLLM does not start"
    )


def test_what_nobody_tells_is_unknown() -> None:
    outcome = judge("GPU003", "nvidia_smi_only")
    assert outcome.status is Status.UNKNOWN
    assert outcome.reason.startswith(
        "nvidia-smi reports neither the memory in use nor the processes of MIG slice 2g.20gb"
    )


def test_nothing_to_say_where_cuda_has_no_device() -> None:
    assert judge("GPU003", "no_dev_files").status is Status.SKIP


@pytest.mark.parametrize("machine", ["clean_gpu_node", "whole_h200", "mig_one_slice"])
def test_silent_on_the_clean_machine(machine: str) -> None:
    assert judge("GPU003", recorded(machine), plan=HALF).status is Status.PASS
