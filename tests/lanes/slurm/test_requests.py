"""What we read of a job's request is what Slurm made of it: by options, by sbatch's variables, and by both."""

import math
import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from lanes.slurm.lab import GPU_PARTITION, Cluster
from lanes.slurm.site import CONFIG, WAITS, Site
from skyrl_doctor.plan.dialects.verl.sbatch import directives
from skyrl_doctor.plan.inner_scripts import with_inner_commands
from skyrl_doctor.plan.source import Source
from skyrl_doctor.plan.syntax.shell import read_script
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
    """As scontrol prints it: `4000M`, `32G`, and `0` for all of a node."""
    return 0 if text == "0" else int(float(text[:-1]) * {"M": 1, "G": 1024, "T": 1024**2}[text[-1]])


def rounded(text: str) -> float:
    """Minutes, or infinity: Slurm rounds a limit up."""
    found = minutes(text)
    assert found is not None, text
    return found if math.isinf(found) else math.ceil(found)


@dataclass(frozen=True)
class Made:
    """A job as Slurm has it. It shows no qos where it has no accounting, as here."""

    partition: str
    account: str
    minutes: float
    memory_mib: int
    cpus: int
    nodes: int
    gres: str
    is_whole_node: bool


def made(facts: dict[str, str]) -> Made:
    return Made(
        facts["Partition"],
        facts["Account"],
        rounded(facts["TimeLimit"]),
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
        request.account.value.lower() if request.account else NONE,  # as Slurm writes it
        rounded(request.time_limit),
        request.memory_mib,
        request.cpus,
        request.nodes,
        f"gpu:{kind}{request.gpus}" if request.gpus else "",
        request.gets_whole_node,
    )


HEAD = """
[model]
path = "a/b"
[actor]
dynamic_batch_size = true
[agent]
max_parallel = 1
[sandbox]
cpus = 1
memory_mib = 64
reserved_cpus = 0
"""
PARTITION = f'gpu_partition = "{GPU_PARTITION}"\n'
LAUNCHES: dict[str, tuple[str, dict[str, str]]] = {
    "nothing but the defaults": (PARTITION, {}),
    "all sizes": (
        (
            f'{PARTITION}trainer_memory_mib = 1500\ntrainer_cpus = 2\ntrainer_time_limit = "1:30:00"\nruntime_memory_mib = 4000\n'
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
    "an account in capitals": (f'{PARTITION}account = "Us"\n', {}),
    "SBATCH_ACCOUNT beside an account": (f'{PARTITION}account = "us"\n', {"SBATCH_ACCOUNT": "them"}),
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
    config = parse(f"{HEAD}[slurm]\n{lines}")
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


RUN = "python3 -m verl.trainer.main_ppo\n"
TYPED, GPU = "2g.20gb", f"-p {GPU_PARTITION}"
SCRIPTS: dict[str, tuple[str, str]] = {
    "nothing": ("", ""),
    "a partition": ("#SBATCH --partition=lean", ""),
    "a partition, short": ("#SBATCH -p lean", ""),
    "a partition, short and joined": ("#SBATCH -plean", ""),
    "minutes": ("#SBATCH --time=5", ""),
    "minutes behind a space": ("#SBATCH --time 5", ""),
    "hours": ("#SBATCH -t 1:30:00", ""),
    "minutes and seconds": ("#SBATCH -t 90:30", ""),
    "days": ("#SBATCH -t 1-12", ""),
    "memory in G": ("#SBATCH --mem=4G", ""),
    "memory without a unit": ("#SBATCH --mem 4096", ""),
    "memory in K": ("#SBATCH --mem=2048K", ""),
    "CPUs": ("#SBATCH --cpus-per-task=3", ""),
    "CPUs, short and joined": ("#SBATCH -c3", ""),
    "a node": ("#SBATCH -N1", ""),
    "an account": ("#SBATCH -A us", ""),
    "an account, long": ("#SBATCH --account us", ""),
    "a GPU": (f"#SBATCH {GPU} --gres=gpu:1", ""),
    "a GPU without a number": (f"#SBATCH {GPU} --gres=gpu", ""),
    "two GPUs of a type": (f"#SBATCH {GPU} --gres=gpu:{TYPED}:2", ""),
    "GPUs of a node": (f"#SBATCH {GPU} --gpus-per-node=2", ""),
    "GPUs of a node and a type": (f"#SBATCH {GPU} --gpus-per-node={TYPED}:1", ""),
    "GPUs of the job": (f"#SBATCH {GPU} --gpus=2", ""),
    "GPUs of the job, short": (f"#SBATCH {GPU} -G 1", ""),
    "several options on a line": ("#SBATCH -p lean -t 7 --mem=900 -c 2", ""),
    "a comment behind": ("#SBATCH --time=5 # five minutes -t 9", ""),
    "quotes": ('#SBATCH --account="us" -t "7"', ""),
    "the later line": ("#SBATCH --time=5\n#SBATCH -t 6\n#SBATCH --mem=1G\n#SBATCH --mem=2G", ""),
    "a line below a command": ("#SBATCH --time=5\ncd /\n#SBATCH --time=6", ""),
    "lines that are none": (" #SBATCH --time=5\n##SBATCH --time=6\n# SBATCH --time=7", ""),
    "a tab": ("#SBATCH\t--time=5", ""),
    "the command line": ("", "-p lean -t 7 --mem=900 -c 2 -A us"),
    "the command line over the script": (
        "#SBATCH -p short --time=5 --mem=1G -c 1 -A them",
        "--partition=lean -t 7 --mem=900 -c 2 -A us",
    ),
    "the later of two words": ("", "-t 5 --time=6"),
    "GPUs over GPUs": (f"#SBATCH {GPU} --gres=gpu:{TYPED}:2", "--gres=gpu:1"),
    "GPUs of another option": (f"#SBATCH {GPU} --gres=gpu:2", "--gpus=2"),
}
READ = {
    "slurm.gpu_partition": "partition",
    "slurm.trainer_time_limit": "minutes",
    "slurm.account": "account",
    "slurm.nodes": "nodes",
    "slurm.trainer_cpus": "cpus",
    "slurm.trainer_memory_mib": "memory_mib",
    "slurm.gpus_per_node": "gpus",
    "slurm.gpu_type": "gpu_type",
}


def reading(text: str) -> dict[str, object]:
    """What the doctor reads of the job that this script submits."""
    outer = read_script(Source("go.sh", text), {})
    with_inner_commands(outer, text)
    command = next(one for one in outer.commands if any("main_ppo" in word.text for word in one.words))
    found = {READ[value.key]: value.value for value in directives(outer, "go.sh", command.job)}
    return found | ({"minutes": rounded(str(found["minutes"]))} if "minutes" in found else {})


def truth(facts: dict[str, str]) -> dict[str, object]:
    """The same of the job that Slurm has."""
    job = made(facts)
    of_gpus = (facts.get("TresPerNode") or facts.get("TresPerJob") or "").replace("/", ":").removeprefix("gres:gpu")
    kind, _, count = of_gpus.lstrip(":").rpartition(":")
    known = {name: getattr(job, name) for name in ("partition", "account", "minutes", "nodes", "cpus", "memory_mib")}
    known |= {"gpus": int(count or 1)} if "TresPerNode" in facts or "TresPerJob" in facts else {}
    return known | ({"gpu_type": kind} if kind else {})


@pytest.mark.parametrize("kind", SCRIPTS)
def test_a_script_that_submits_a_job(cluster: Cluster, tmp_path: Path, kind: str) -> None:
    lines, words = SCRIPTS[kind]
    usual = submitted(cluster, tmp_path, "", "")
    found = reading(text_of(lines, words))
    real = submitted(cluster, tmp_path, lines, words)
    names = {*found, *(name for name in real if real[name] != usual.get(name))}
    assert {name: found.get(name) for name in names} == {name: real.get(name) for name in names}


def text_of(lines: str, words: str) -> str:
    return f"#!/bin/bash\nsbatch --hold --parsable {words} <<'END'\n#!/bin/bash\n{lines}\n{RUN}END\n"


def submitted(cluster: Cluster, at: Path, lines: str, words: str) -> dict[str, object]:
    done = cluster.run("bash", "-c", text_of(lines, words), cwd=at)
    assert done.returncode == 0, done.stderr
    return truth(facts_of(cluster, done.stdout.strip()))
