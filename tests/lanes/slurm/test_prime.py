"""A prime-rl run on a real Slurm, with a stand-in for `uv run rl` that writes down what it was called with."""

import sys
from pathlib import Path

import pytest

from lanes.slurm.lab import GPU_PARTITION, processes_with, wait_until
from lanes.slurm.site import Launched, Site
from skyrl_train.launch.role import Role

pytestmark = pytest.mark.slurm
PRIME = """
output_dir = "out"
[model]
name = "Qwen/Qwen2.5-0.5B-Instruct"
[deployment]
num_train_gpus = 1
[trainer.model]
seq_len = 2048
[orchestrator]
batch_size = 8
group_size = 2
seq_len = 2048
[orchestrator.train.sampling]
max_completion_tokens = 256
"""
WHOLE_NODE = f"""
[slurm] # as prime-rl's own job
partition = "{GPU_PARTITION}"
time = "5"
pre_run_command = "echo before > before"
"""
RECORDS = """#!/bin/sh
pwd > called
for word in "$@"; do echo "$word" >> called; done
echo "$WANDB_MODE $CUDA_VISIBLE_DEVICES $SKYRL_JOB_DIR" >> called
grep -c slurm "$4" >> called
mkdir -p out/logs
"""


def launch(site: Site, uv: str, *words: str, config: str = PRIME) -> Launched:
    """As a user of prime-rl stands in the project's directory and types it."""
    (site.at / "prime.toml").write_text(config)
    (site.at / ".env").write_text("WANDB_MODE=offline\n")
    tools = site.at / "bin"
    tools.mkdir()
    (tools / "uv").write_text(uv)
    (tools / "uv").chmod(0o755)
    command = [sys.executable, "-m", "skyrl_train", "launch", "prime.toml", "--job-dir", "job", *words]
    env = {"PATH": f"{tools}:{site.cluster.env['PATH']}", "SBATCH_PARTITION": GPU_PARTITION}
    done = site.cluster.run(*command, cwd=site.at, **env)
    return Launched(site.cluster, site.at / "job", done.returncode, done.stderr)


def test_it_is_gated_and_runs_by_its_own_command_line(site: Site) -> None:
    made = launch(site, RECORDS)
    assert made.status == 0, made.said
    ended = made.ended(Role.TRAINER)
    assert (ended.status, ended.reason) == (0, ""), made.log(Role.TRAINER)
    site.cluster.wait(made.job(Role.TRAINER))
    called = (site.at / "called").read_text().splitlines()
    assert called[:5] == [str(site.at), "run", "rl", "@", f"{made.job_dir}/prime.toml"]
    assert called[5:] == [f"offline 0 {made.job_dir}", "0"]
    assert (made.job_dir / "verdict.json").exists()
    assert (made.job_dir / "training_complete.flag").exists()
    assert not (made.job_dir / "runtime.sh").exists()
    left = site.cluster.run(sys.executable, "-m", "skyrl_train", "status", "job", cwd=site.at).stdout
    assert "runtime" not in left


def test_a_node_for_itself_has_two_slices_which_the_gate_refuses(site: Site) -> None:
    """As prime-rl's own job would get them; a process of its trainer sees one."""
    made = launch(site, RECORDS, config=PRIME.replace("[deployment]", "[deployment]\ngpus_per_node = 2") + WHOLE_NODE)
    assert made.status == 0, made.said
    ended = made.ended(Role.TRAINER)
    assert ended.status == 78
    assert "GPU001 CUDA_VISIBLE_DEVICES names 2 MIG slices" in ended.reason
    assert not (site.at / "called").exists()


def test_one_slice_is_not_shared_and_nothing_is_submitted(site: Site) -> None:
    one = PRIME.replace("num_train_gpus = 1", "num_train_gpus = 1\nnum_infer_gpus = 1\ngpus_per_node = 1")
    made = launch(site, RECORDS, config=one + "[inference.vllm]\nenforce_eager = true\n")
    assert made.status == 78, made.said
    assert "PRM008" in made.said
    assert not Path(made.job_dir).exists()
    assert site.cluster.jobs() == []


def test_its_own_status_is_the_jobs_and_nothing_is_left(site: Site) -> None:
    made = launch(site, "#!/bin/sh\nsetsid sleep 600 &\nexit 9\n")
    assert made.status == 0, made.said
    assert made.ended(Role.TRAINER).reason == "the trainer exited with status 9", made.log(Role.TRAINER)
    assert site.cluster.wait(made.job(Role.TRAINER)).exit_code == 9
    wait_until(lambda: not processes_with(f"SKYRL_JOB_DIR={made.job_dir}"), "no process of the launch is left")
