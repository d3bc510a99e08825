"""Faults of a launch, each with the place that must find it, the words that must name it, and the exit status."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from lanes.slurm.several.two import RAY, TWO, of_ray
from lanes.slurm.site import CONFIG, WAITS, Launched, Site, bash
from skyrl_train.launch.role import Role

LOGIN, RUNTIME_NODE, TRAINER_NODE = "login", "runtime's node", "trainer's node"
RUNNING, AFTERWARDS = "while running", "afterwards"
OWN = None
"""Our own trainer or runtime instead of a stand-in."""
Harm = Callable[[Site, Launched], AbstractContextManager[object]]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """`harm` strikes a trainer that runs; without it the fault is there from the start."""

    title: str
    found: str
    named: str
    exit: int
    config: str = CONFIG
    words: tuple[str, ...] = ()
    trainer: str | None = WAITS
    runtime: str | None = ""
    prepare: Callable[[Site], dict[str, str]] = lambda _: {}
    """Makes files; variables of the launch."""
    harm: Harm | None = None


def changed(*changes: tuple[str, str], config: str = CONFIG) -> str:
    for old, new in changes:
        assert old in config, old
        config = config.replace(old, new)
    return config


def slurm(lines: str, config: str = CONFIG) -> str:
    return changed(("[slurm]", f"[slurm]\n{lines}"), config=config)


def task_rows(*rows: dict[str, object]) -> Callable[[Site], dict[str, str]]:
    """Makes rows.jsonl, and an interpreter that lacks no package."""

    def write(site: Site) -> dict[str, str]:
        (site.at / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (site.at / "python").write_text("#!/bin/sh\nexit 0\n")
        (site.at / "python").chmod(0o755)
        return {}

    return write


def an_archive(site: Site) -> dict[str, str]:
    (site.at / "archive").mkdir()
    (site.at / "archive" / "docker.io_library_other_latest.tar").touch()
    return task_rows(ROW)(site)


def an_archive_that_is_a_page(site: Site) -> dict[str, str]:
    """What a download saves that needed a login."""
    (site.at / "archive").mkdir()
    (site.at / "archive" / "docker.io_a_b_c.tar").write_text("<!DOCTYPE html>\n<html>Please log in.</html>\n")
    return task_rows(ROW)(site)


def without_podman(site: Site) -> dict[str, str]:
    """Every program of this machine but Podman."""
    programs = site.at / "programs"
    programs.mkdir()
    for folder in reversed([*os.environ["PATH"].split(":"), "/usr/sbin"]):
        for path in Path(folder).glob("*"):
            link = programs / path.name
            if path.name != "podman" and not link.is_symlink():
                link.symlink_to(path)
    return {"PATH": str(programs)}


def differing_ray(site: Site) -> dict[str, str]:
    """gpu2 has a Ray that gpu1 lacks."""
    other = site.at / "other" / "ray-2.50.0.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: ray\nVersion: 2.50.0\n")
    (site.at / "sitecustomize.py").write_text(
        f"import os, sys\nif os.environ.get('SLURMD_NODENAME') == 'gpu2': sys.path.insert(0, {str(other.parent)!r})\n"
    )
    return {"PYTHONPATH": f"{site.at}:{RAY}:{site.cluster.env['PYTHONPATH']}"}


def with_ray(site: Site) -> dict[str, str]:
    return {"PYTHONPATH": f"{RAY}:{site.cluster.env['PYTHONPATH']}"}


def earlier_launch(site: Site) -> dict[str, str]:
    (site.at / "job").mkdir()
    (site.at / "job" / "runtime_ready.flag").write_text("http://old\n")
    return {}


def command(*words: str) -> Harm:
    """A command of the user; TRAINER stands for the id of its job, JOB_DIR for the directory."""

    def harm(site: Site, made: Launched) -> AbstractContextManager[object]:
        ids = {"TRAINER": made.job(Role.TRAINER), "JOB_DIR": str(made.job_dir)}
        done = site.cluster.run(*(ids.get(word, word) for word in words), cwd=site.at)
        assert done.returncode == 0, done.stderr
        return nullcontext()

    return harm


def runtime_is_killed(_: Site, made: Launched) -> AbstractContextManager[object]:
    for pid in made.payloads(Role.RUNTIME):
        os.kill(pid, signal.SIGKILL)
    return nullcontext()


def ray_is_killed(_: Site, made: Launched) -> AbstractContextManager[object]:
    os.kill(of_ray(made, "gpu2"), signal.SIGKILL)
    return nullcontext()


def limit_is_reached(site: Site, made: Launched) -> AbstractContextManager[object]:
    now = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(time.time() + 1))
    return command("scontrol", "update", f"JobId={made.job(Role.TRAINER)}", f"EndTime={now}")(site, made)


def node_fails(site: Site, _: Launched) -> AbstractContextManager[object]:
    return site.cluster.lost("gpu1")


@contextmanager
def another_takes_the_node(site: Site, made: Launched) -> Iterator[None]:
    words = ("--partition=urgent", "--nodelist=gpu1", "--exclusive", "--gres=gpu:2")
    job = site.cluster.submit("true", *words, cwd=site.at)
    yield
    site.cluster.wait(job)


ROW: dict[str, object] = {
    "prompt": [{"role": "user", "content": "fix it"}],
    "data_source": "r2e-gym",
    "agent_name": "skyrl",
    "reward_model": {"style": "rule", "ground_truth": '{"a": "PASSED"}'},
    "extra_info": {"task_id": "1", "image": "a/b:c"},
}
DIES = "ValueError: max_tokens=4000 cannot be greater than max_model_len=2048. Please request fewer output tokens."
STARTS = "Generating:   0%|          | 0/8"
FULL = "creating read-write layer: mkdir /tmp/skyrl-0-1/podman/graph/overlay/ab: no space left on device"
SMALL = changed(("trainer_memory_mib = 32000", "trainer_memory_mib = 200"))
TWO_SLICES = changed(
    ("[slurm]", "[slurm]\ngpus_per_node = 2"),
    ("train_batch_size = 1", "train_batch_size = 2"),
    ("[model]", "[actor]\nppo_mini_batch_size = 2\n[model]"),
)
REQUEUE = changed(("signal_before_end_s = 0", "signal_before_end_s = 60\nrequeue = true\nrequeue_limit = 0"))
STOPS = CONFIG + '[watch]\non_root = "stop"\nsettle_s = 1\ngrace_s = 5\n'

AT_LOGIN = (
    Fault(
        title="settings that contradict each other",
        found=LOGIN,
        named="CFG001",
        exit=78,
        config=changed(("max_prompt_tokens = 2048", "max_prompt_tokens = 4096")),
    ),
    Fault(
        title="an unknown setting",
        found=LOGIN,
        named="train_batchsize",
        exit=78,
        config=changed(("train_batch_size", "train_batchsize")),
    ),
    Fault(
        title="a warning earlier than the start",
        found=LOGIN,
        named="slurm.signal_before_end_s = 900",
        exit=2,
        config=changed(("signal_before_end_s = 0", "signal_before_end_s = 900")),
    ),
    Fault(title="no tasks", found=LOGIN, named="data.train_files is empty", exit=2, trainer=OWN),
    Fault(
        title="a task file that is missing",
        found=LOGIN,
        named="absent.jsonl",
        exit=78,
        config=changed(("[data]", '[data]\ntrain_files = ["absent.jsonl"]')),
    ),
    Fault(
        title="a task file with a bad row",
        found=LOGIN,
        named="rows.jsonl, row 2: prompt is empty",
        exit=2,
        trainer=OWN,
        config=changed(("[data]", '[data]\ntrain_files = ["rows.jsonl"]'))
        + 'validate_every_steps = -1\n[python]\ninterpreter = "./python"\n',
        words=("--no-gate",),
        prepare=task_rows(ROW, {**ROW, "prompt": []}),
    ),
    Fault(
        title="an image that a readable archive lacks",
        found=LOGIN,
        named="IMG009",
        exit=78,
        config=changed(
            ("[data]", '[data]\ntrain_files = ["rows.jsonl"]'), ("[sandbox]", '[sandbox]\nimage_archive = "archive"')
        ),
        prepare=an_archive,
    ),
    Fault(
        title="a file that is not an image archive (IMG009)",
        found=LOGIN,
        named="docker.io_a_b_c.tar is an HTML or XML page, not a tar",
        exit=78,
        config=changed(
            ("[data]", '[data]\ntrain_files = ["rows.jsonl"]'), ("[sandbox]", '[sandbox]\nimage_archive = "archive"')
        ),
        prepare=an_archive_that_is_a_page,
    ),
    Fault(title="too little host memory", found=LOGIN, named="ENV007", exit=78, config=SMALL),
    Fault(
        title="packages that the interpreter lacks",
        found=LOGIN,
        named="which the trainer needs",
        exit=2,
        trainer=OWN,
        config=changed(("[data]", '[data]\ntrain_files = ["rows.jsonl"]')) + "validate_every_steps = -1\n",
        prepare=task_rows(ROW),
    ),
    Fault(title="a job directory of an earlier launch", found=LOGIN, named="SLM004", exit=2, prepare=earlier_launch),
    Fault(
        title="an unknown partition",
        found=LOGIN,
        named="Slurm has no partition nowhere",
        exit=2,
        config=changed(('"test"', '"nowhere"')),
    ),
    Fault(
        title="more time than the partition allows",
        found=LOGIN,
        named="allows at most 00:02:00",
        exit=2,
        config=changed(('"test"', '"short"')),
    ),
    Fault(
        title="more memory than any node has",
        found=LOGIN,
        named="no node of partition gpu_test has more than 64000",
        exit=2,
        config=changed(("trainer_memory_mib = 32000", "trainer_memory_mib = 99000")),
    ),
    Fault(
        title="more CPUs than any node has",
        found=LOGIN,
        named="slurm.trainer_cpus = 64",
        exit=2,
        config=changed(("trainer_cpus = 1", "trainer_cpus = 64")),
    ),
    Fault(
        title="a GPU type that no node has",
        found=LOGIN,
        named="has a GPU of this type; they have 2g.20gb",
        exit=2,
        config=slurm('gpu_type = "h100"'),
    ),
    Fault(
        title="more nodes than the partition has",
        found=LOGIN,
        named="slurm.nodes = 3, but partition gpu_test has",
        exit=2,
        config=changed(
            ("nodes = 2", "nodes = 3"),
            ("train_batch_size = 2", "train_batch_size = 3"),
            ("mini_batch_size = 2", "mini_batch_size = 3"),
            config=TWO,
        ),
    ),
    Fault(
        title="an account that the partition does not allow",
        found=LOGIN,
        named="may not use partition theirs",
        exit=2,
        config=changed(('"test"', '"theirs"\naccount = "us"')),
    ),
    Fault(
        title="a feature that no node has",
        found=LOGIN,
        named="because sbatch refuses the runtime job: Invalid feature specification",
        exit=2,
        config=slurm('extra = ["--constraint=nothing"]'),
    ),
    Fault(
        title="a reservation that Slurm does not have",
        found=LOGIN,
        named="Requested reservation is invalid",
        exit=2,
        config=slurm('extra = ["--reservation=nothing"]'),
    ),
    Fault(
        title="an option that sbatch does not know",
        found=LOGIN,
        named="unrecognized option '--nothing'",
        exit=2,
        config=slurm('extra = ["--nothing"]'),
    ),
    Fault(
        title="a partition that is closed",
        found=LOGIN,
        named="partition closed is INACTIVE",
        exit=2,
        config=changed(('"test"', '"closed"')),
    ),
    Fault(
        title="more memory than the partition allows",
        found=LOGIN,
        named="partition lean allows at most 2000",
        exit=2,
        config=changed(('"test"', '"lean"')),
    ),
    Fault(
        title="an array of launches", found=LOGIN, named="--array=0-3", exit=2, config=slurm('extra = ["--array=0-3"]')
    ),
    Fault(title="two MIG slices (GPU002)", found=LOGIN, named="GPU002", exit=2, config=TWO_SLICES),
    Fault(
        title="all slices of a node (GPU001)",
        found=LOGIN,
        named="GPU001",
        exit=2,
        config=slurm('extra = ["--exclusive"]'),
    ),
)
ON_NODES = (
    Fault(
        title="no Podman (POD011)",
        found=RUNTIME_NODE,
        named="POD011",
        exit=1,
        runtime=OWN,
        prepare=without_podman,
    ),
    Fault(
        title="a program that the runtime's node lacks (ENV023)",
        found=RUNTIME_NODE,
        named="the program 'no-such-program' was not found",
        exit=1,
        runtime="no-such-program",
    ),
    Fault(
        title="a full store (POD002)",
        found=RUNTIME_NODE,
        named="no space left on device",
        exit=1,
        runtime=bash(f"echo 'skyrl-train runtime serve: {FULL}' >&2; exit 1"),
    ),
    Fault(
        title="an address with other text in its file",
        found=TRAINER_NODE,
        named="some program printed into this file",
        exit=1,
        runtime=bash(
            "printf 'Loading\\nhttp://127.0.0.1:1\\n' > job/runtime_url.txt; touch job/runtime_ready.flag; sleep 600"
        ),
    ),
    Fault(
        title="two MIG slices, found on the node only (GPU002)",
        found=TRAINER_NODE,
        named="GPU002",
        exit=78,
        config=TWO_SLICES,
        words=("--no-gate",),
    ),
    Fault(
        title="no GPU that the job may use",
        found=TRAINER_NODE,
        named="GPU",
        exit=78,
        prepare=lambda _: {"LANE_GPUS": "none"},
    ),
    Fault(
        title="too little host memory, found on the node only (ENV007)",
        found=TRAINER_NODE,
        named="ENV007",
        exit=78,
        config=SMALL,
        words=("--no-gate",),
    ),
    Fault(
        title="a program that the trainer's node lacks (ENV023)",
        found=TRAINER_NODE,
        named="the program 'no-such-program' was not found",
        exit=127,
        trainer="no-such-program",
    ),
    Fault(
        title="two nodes that differ (SLM003)",
        found=TRAINER_NODE,
        named="SLM003",
        exit=78,
        config=TWO,
        prepare=differing_ray,
    ),
)
WHILE_RUNNING = (
    Fault(
        title="the runtime is killed (RUN011)",
        found=RUNNING,
        named="the runtime job ended",
        exit=1,
        harm=runtime_is_killed,
    ),
    Fault(
        title="Ray of a node is killed",
        found=RUNNING,
        named="node gpu2: Ray exited with status -9",
        exit=1,
        config=TWO,
        prepare=with_ray,
        harm=ray_is_killed,
    ),
    Fault(
        title='a run that cannot succeed, with `watch.on_root = "stop"`, `settle_s = 1`',
        found=RUNNING,
        named="CFG001",
        exit=143,
        config=STOPS,
        trainer=bash(
            f"touch begun; until [ -e dies ]; do sleep 0.1; done; echo '{STARTS}' >&2; echo '{DIES}' >&2; sleep 600"
        ),
        harm=command("touch", "dies"),
    ),
    Fault(
        title="a trainer that ignores the warning before its limit",
        found=RUNNING,
        named="slurm.requeue_limit allows 0",
        exit=138,
        config=REQUEUE,
        harm=command("scancel", "--signal=USR1", "--batch", "TRAINER"),
    ),
    Fault(title="time limit (SLM001)", found=AFTERWARDS, named="hit its time limit", exit=143, harm=limit_is_reached),
    Fault(
        title="preemption (SLM012)",
        found=AFTERWARDS,
        named="Slurm preempted the job",
        exit=143,
        harm=another_takes_the_node,
    ),
    Fault(
        title="scancel (SLM011)",
        found=AFTERWARDS,
        named="cancelled with scancel",
        exit=143,
        harm=command("scancel", "TRAINER"),
    ),
    Fault(
        title="`skyrl-train stop` (SLM014)",
        found=AFTERWARDS,
        named="stopped with `skyrl-train stop` by",
        exit=143,
        harm=command(sys.executable, "-m", "skyrl_train", "stop", "JOB_DIR"),
    ),
    Fault(title="a failed node (SLM013)", found=AFTERWARDS, named="NODE_FAIL", exit=1, harm=node_fails),
)
