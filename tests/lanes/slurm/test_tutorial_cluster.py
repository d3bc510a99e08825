"""The blocks of the cluster tutorial, in their order, on a real Slurm. Both jobs run stand-ins for what needs GPUs and images."""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest

from lanes.slurm.lab import CPU_PARTITION, GPU_PARTITION, Cluster, wait_until

pytestmark = pytest.mark.slurm
HERE = Path(__file__).parent
PAGE = HERE.parents[2] / "docs/tutorial-cluster.md"
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
LEFT_OUT = {
    "python3.12 -m venv venv && . venv/bin/activate": "the release lane installs",
    "pip install '.[launch,runtime,data]'": "the release lane installs",
    "skyrl-train images list train.parquet": "the podman lane has images",
    "skyrl-train images pull train.parquet": "no registry is here",
    "skyrl-train data oracle tasks.jsonl --data train.parquet": "it needs the images",
}
TASK = {
    "docker_image": "n/x:1",
    "repo_name": "x",
    "commit_hash": "abc",
    "problem_statement": "It fails.",
    "expected_output_json": '{"a": "PASSED"}',
}
OF_THE_SITE = f"""
gpu_partition = "{GPU_PARTITION}"
cpu_partition = "{CPU_PARTITION}"
trainer_cpus = 1
trainer_memory_mib = 32000
runtime_cpus = 1
runtime_memory_mib = 4000
trainer_time_limit = "5"
runtime_time_limit = "5"
signal_before_end_s = 0
"""
SMALL = "\n[agent]\nmax_parallel = 1\n\n[sandbox]\ncpus = 1\nmemory_mib = 64\nreserved_cpus = 0\n"
STAND_INS = shlex.join(
    [
        *("--runtime-command", f'bash -c "exec {sys.executable} {HERE / "standin_runtime.py"} $SKYRL_JOB_DIR"'),
        *("--trainer-command", f"{sys.executable} {HERE / 'standin_trainer.py'}"),
    ]
)


def commands() -> list[str]:
    """The commands of the page, without their comments."""
    lines = "".join(BLOCK.findall(PAGE.read_text(encoding="utf-8"))).splitlines()
    return [line.partition(" #")[0].strip() for line in lines]


def test_what_is_left_out_is_in_the_page() -> None:
    assert set(LEFT_OUT) - set(commands()) == set()


def test_the_tutorial_leads_to_a_resumed_training(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "tasks.jsonl").write_text(json.dumps(TASK) + "\n")
    path = f"{Path(sys.executable).parent}:{cluster.env['PATH']}"
    launches: list[Path] = []
    outputs: dict[str, str] = {}
    for command in commands():
        if command in LEFT_OUT:
            continue
        line = command.replace("JOB_DIR", str(launches[-1])) if launches else command
        if command.startswith("skyrl-train launch "):
            line = f"{line} {STAND_INS}"
        done = cluster.run("bash", "-c", line, cwd=tmp_path, PATH=path)
        assert done.returncode == 0, f"$ {line}\n{done.stdout}\n{done.stderr}"
        outputs[command] = done.stdout
        if command.startswith("skyrl-train init "):
            run = tmp_path / "run.toml"
            run.write_text(run.read_text().replace("[slurm]\n", f"[slurm]{OF_THE_SITE}") + SMALL)
        if command == "skyrl-train launch run.toml":
            launches = sorted((tmp_path / ".skyrl_jobs").glob("*_launch"))
            wait_until((launches[-1] / "trains").exists, lambda: cluster.logs())
    assert len(launches) == 2
    assert "global_step_1" in outputs["skyrl-train checkpoints list JOB_DIR"]
    assert "rollouts" in outputs["skyrl-train show JOB_DIR"]
