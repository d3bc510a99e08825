"""What we read of a job's request is what Slurm made of it: by options, by sbatch's variables, and by both."""

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from lanes.slurm.lab import GPU_PARTITION, Cluster
from lanes.slurm.site import CONFIG, WAITS, Site
from skyrl_train.config.load import parse
from skyrl_train.config.walltime import minutes
from skyrl_train.launch import slurm
from skyrl_train.launch.job_requests import JobRequest, job_requests
from skyrl_train.launch.jobs import jobs
from skyrl_train.launch.render import script
from skyrl_train.launch.role import Role

pytestmark = pytest.mark.slurm
DEFAULT_PARTITION = "test"
NONE = "(null)"


def facts_of(cluster: Cluster, job_id: str) -> dict[str, str]:
    done = cluster.run("scontrol", "--oneliner", "show", "job", job_id)
    assert done.returncode == 0, done.stderr
    cluster.run("scancel", job_id)
    words = [word.split("=", 1) for word in done.stdout.split() if "=" in word]
    return dict(reversed(words))


def mebibytes(text: str) -> int:
    """As scontrol prints it: `4000M`, `32G`."""
    return int(float(text[:-1]) * {"M": 1, "G": 1024, "T": 1024**2}[text[-1]])


@dataclass(frozen=True)
class Made:
    """A job as Slurm has it."""

    partition: str
    account: str
    qos: str
    minutes: float | None
    memory_mib: int
    cpus: int
    nodes: int
    gres: str
    is_whole_node: bool


def made(facts: dict[str, str]) -> Made:
    return Made(
        facts["Partition"],
        facts["Account"],
        facts["QOS"],
        minutes(facts["TimeLimit"]),
        mebibytes(facts["MinMemoryNode"]),
        int(facts["CPUs/Task"]),
        int(facts["NumNodes"].split("-")[0]),
        facts.get("TresPerNode", "").removeprefix("gres:").removeprefix("gres/"),
        facts["OverSubscribe"] == "NO",
    )


def expected(request: JobRequest) -> Made:
    kind = f"{request.gpu_type}:" if request.gpu_type else ""
    return Made(
        request.partition.value if request.partition else DEFAULT_PARTITION,
        request.account.value if request.account else NONE,
        request.qos.value if request.qos else NONE,
        minutes(request.time_limit),
        request.memory_mib,
        request.cpus,
        request.nodes,
        f"gpu:{kind}{request.gpus}" if request.gpus else "",
        request.gets_whole_node,
    )


PARTITION = f'gpu_partition = "{GPU_PARTITION}"\n'
LAUNCHES: dict[str, tuple[str, dict[str, str]]] = {
    "nothing but the defaults": (PARTITION, {}),
    "all sizes": (
        (
            f'{PARTITION}trainer_memory_mib = 1500\ntrainer_cpus = 2\ntrainer_time_limit = "1:30:00"\nruntime_memory_mib = 900\n'
            'runtime_cpus = 2\nruntime_time_limit = "1-00"\naccount = "us"\nqos = "low"\n'
        ),
        {},
    ),
    "a type": (f'{PARTITION}gpu_type = "2g.20gb"\n', {}),
    "two GPUs": (f"{PARTITION}gpus_per_node = 2\n", {}),
    "a time in seconds": (f'{PARTITION}trainer_time_limit = "7:30"\n', {}),
    "SBATCH_PARTITION where the runtime has none": (PARTITION, {"SBATCH_PARTITION": "short"}),
    "SBATCH_PARTITION for both": ("", {"SBATCH_PARTITION": GPU_PARTITION}),
    "SBATCH_PARTITION for none": (f'{PARTITION}cpu_partition = "test"\n', {"SBATCH_PARTITION": "short"}),
    "SBATCH_TIMELIMIT": (PARTITION, {"SBATCH_TIMELIMIT": "9"}),
    "SBATCH_MEM_PER_NODE": (PARTITION, {"SBATCH_MEM_PER_NODE": "300"}),
    "SBATCH_MEM_PER_CPU": (PARTITION, {"SBATCH_MEM_PER_CPU": "300"}),
    "SBATCH_GRES": (PARTITION, {"SBATCH_GRES": "gpu:2"}),
    "SBATCH_GPUS": (PARTITION, {"SBATCH_GPUS": "2", "SBATCH_GPUS_PER_NODE": "2"}),
    "SBATCH_CPUS_PER_GPU": (PARTITION, {"SBATCH_CPUS_PER_GPU": "2"}),
    "SBATCH_ACCOUNT": (PARTITION, {"SBATCH_ACCOUNT": "them"}),
    "SBATCH_ACCOUNT beside an account": (f'{PARTITION}account = "us"\n', {"SBATCH_ACCOUNT": "them"}),
    "SBATCH_QOS": (PARTITION, {"SBATCH_QOS": "high"}),
    "SBATCH_QOS beside a qos": (f'{PARTITION}qos = "low"\n', {"SBATCH_QOS": "high"}),
    "SBATCH_ARRAY_INX": (PARTITION, {"SBATCH_ARRAY_INX": "0-3"}),
    "SBATCH_REQUEUE": (PARTITION, {"SBATCH_REQUEUE": "1"}),
    "SBATCH_NO_REQUEUE": (f"{PARTITION}requeue = true\nsignal_before_end_s = 60\n", {"SBATCH_NO_REQUEUE": "1"}),
    "SBATCH_JOB_NAME, OUTPUT and ERROR": (
        PARTITION,
        {"SBATCH_JOB_NAME": "x", "SBATCH_OUTPUT": "/dev/null", "SBATCH_ERROR": "/dev/null"},
    ),
    "an empty SBATCH_PARTITION": (PARTITION, {"SBATCH_PARTITION": "", "SBATCH_TIMELIMIT": ""}),
    "a variable that sbatch refuses": (PARTITION, {"SBATCH_EXCLUSIVE": "", "SBATCH_OPEN_MODE": "x"}),
}


@pytest.mark.parametrize("kind", LAUNCHES)
def test_the_jobs_of_a_launch(cluster: Cluster, tmp_path: Path, kind: str) -> None:
    lines, variables = LAUNCHES[kind]
    config = parse(f'[model]\npath = "a/b"\n[actor]\ndynamic_batch_size = true\n[slurm]\n{lines}')
    requests = list(job_requests(config, tuple(Role), variables, has_own_options=False))
    both = jobs(config, job_dir=str(tmp_path), work_dir="/", python="/bin/true", variables=variables)
    for request, job in zip(requests, both, strict=True):
        path = tmp_path / f"{job.role}.sh"
        path.write_text(script(job))
        job_id = slurm.submit(str(path), "--hold", environ={**os.environ, **cluster.env, **variables})
        facts = facts_of(cluster, job_id)
        assert made(facts) == expected(request), job.role
        is_requeued = job.role is Role.TRAINER and config.slurm.requeue
        assert (facts["JobId"], facts["Requeue"], "ArrayTaskId" in facts) == (job_id, str(int(is_requeued)), False)
        assert facts["JobName"].startswith("skyrl-")
        assert facts["StdOut"].startswith(str(tmp_path))


def test_a_launch_says_what_becomes_of_the_variables(site: Site) -> None:
    variables = {"SBATCH_ACCOUNT": "us", "SBATCH_PARTITION": "nowhere", "SBATCH_GRES": "gpu:2", "SBATCH_EXPORT": "NONE"}
    line = (
        "sbatch's variables: SBATCH_ACCOUNT as --account=us (runtime and trainer); not used: SBATCH_EXPORT, SBATCH_GRES, "
        "SBATCH_PARTITION; the configuration decides, and slurm.extra adds options"
    )
    dry = site.launch(WAITS, "--no-gate", "--dry-run", **variables)
    assert (dry.status, dry.said.count(line)) == (0, 1), dry.said
    launched = site.launch(WAITS, "--no-gate", **variables)
    assert (launched.status, launched.said.count(line)) == (0, 1), launched.said
    for role in Role:
        facts = facts_of(site.cluster, launched.job(role))
        assert (facts["Account"], facts["Partition"]) == ("us", GPU_PARTITION if role is Role.TRAINER else "test")
    assert CONFIG.count("account") == 0


def test_a_partition_of_a_variable_is_judged(site: Site) -> None:
    without = CONFIG.replace('cpu_partition = "test"\n', "")
    refused = site.launch(WAITS, "--no-gate", config=without, SBATCH_PARTITION="nowhere")
    assert refused.status == 2
    assert "SBATCH_PARTITION = 'nowhere', but Slurm has no partition nowhere" in refused.said
