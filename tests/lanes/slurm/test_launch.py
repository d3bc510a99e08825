"""A whole launch on a real Slurm, with stand-ins for what the two jobs run."""

import os
import re
import shlex
import signal
import sys
import time
from pathlib import Path

import pytest

from lanes.slurm.lab import wait_until
from lanes.slurm.site import CONFIG, WAITS, Site, bash
from skyrl_train.launch.role import Role

pytestmark = pytest.mark.slurm
SOON_S = 90
"""Half a minute is what is promised; this machine may be slow."""
SLEEPS_S = 600
ADVISED = re.compile(r"\b([a-z]+\.\w+) = (\d+)(?=[,;.]|$)")


def test_both_jobs_run_and_leave_nothing(site: Site) -> None:
    config = CONFIG.replace("[sandbox]", f'[sandbox]\nstore = "{site.at}/stores"')
    trains = "echo $CUDA_VISIBLE_DEVICES > device; cat job/runtime_url.txt > url; ls stores > stored"
    made = site.launch(bash(trains), "--no-gate", config=config)
    assert made.status == 0, made.said
    assert made.ended(Role.TRAINER).reason == "", made.log(Role.TRAINER)
    assert made.ended(Role.TRAINER).status == 0
    made.leaves_nothing()
    assert (site.at / "device").read_text().strip() == "0"  # a slice by name, remapped by the node's rules
    assert (site.at / "url").read_text().startswith("http://127.0.0.1:")
    assert (made.job_dir / "training_complete.flag").exists()
    assert {role: site.cluster.wait(made.job(role)).state for role in Role} == dict.fromkeys(Role, "COMPLETED")
    assert os.stat(made.job_dir / "runtime_api_key.txt").st_mode & 0o777 == 0o600
    assert (site.at / "stored").read_text().count("skyrl-") >= 1  # of the runtime's job
    assert os.listdir(site.at / "stores") == []
    status = site.cluster.run(sys.executable, "-m", "skyrl_train", "status", str(made.job_dir), cwd=Path("/"))
    assert f"no complete checkpoint in {site.at}/checkpoints/" in status.stdout


def test_the_value_that_a_refusal_asks_for_satisfies_all_rules(site: Site) -> None:
    contradicts = CONFIG.replace("max_prompt_tokens = 2048", "max_prompt_tokens = 4096")
    refused = site.launch("true", "--dry-run", config=contradicts)
    advised = {key: value for line in refused.said.splitlines() for key, value in ADVISED.findall(line)}
    assert (refused.status, list(advised)) == (78, ["rollout.max_model_len"]), refused.said
    mended = contradicts.replace("max_model_len = 4096", f"max_model_len = {advised['rollout.max_model_len']}")
    passed = site.launch("true", "--dry-run", config=mended)
    assert (passed.status, passed.said) == (0, "")


def test_a_faulty_configuration_is_refused_before_sbatch(site: Site) -> None:
    made = site.launch("true", config=CONFIG.replace("max_prompt_tokens = 2048", "max_prompt_tokens = 4096"))
    assert made.status == 78
    assert "CFG001 prompt 4096 (data.max_prompt_tokens)" in made.said
    assert (site.cluster.jobs(), made.job_dir.exists()) == ([], False)


def test_a_faulty_node_ends_both_jobs_and_says_why(site: Site) -> None:
    small = CONFIG.replace("trainer_memory_mib = 32000", "trainer_memory_mib = 200")
    refused = site.launch(WAITS, config=small)
    assert refused.status == 78
    assert "ENV007 the trainer job requests 0.2 GiB of host memory" in refused.said
    made = site.launch(WAITS, "--no-gate", config=small)  # as if only the node could know
    ended = made.ended(Role.TRAINER)
    assert ended.status == 78
    assert ended.reason.startswith("the gate refused: ENV007 this job has 0.2 GiB of host memory")
    assert site.cluster.wait(made.job(Role.TRAINER)).exit_code == 78
    told = made.ended(Role.RUNTIME)
    assert (told.status, told.reason) == (0, f"the trainer job ended: {ended.reason}")
    made.leaves_nothing()
    assert not (site.at / "begun").exists()
    told = site.cluster.run(sys.executable, "-m", "skyrl_train", "status", str(made.job_dir), cwd=site.at)
    assert "gate: ENV007" in told.stdout


def test_two_slices_are_refused_on_the_node(site: Site) -> None:
    config = CONFIG.replace("[slurm]", "[slurm]\ngpus_per_node = 2").replace(
        "train_batch_size = 1", "train_batch_size = 2"
    )
    config = config.replace("[model]", "[actor]\nppo_mini_batch_size = 2\n[model]")
    refused = site.launch(WAITS, config=config)
    assert (refused.status, "(GPU002)" in refused.said) == (2, True), refused.said
    made = site.launch(WAITS, "--no-gate", config=config)  # as if only the node could know
    assert made.status == 0, made.said
    assert "GPU002" in made.ended(Role.TRAINER).reason
    assert made.ended(Role.TRAINER).status == 78
    made.leaves_nothing()


def test_the_trainer_ends_soon_after_its_runtime_was_killed(site: Site) -> None:
    made = site.launch(WAITS)
    wait_until(lambda: (site.at / "begun").exists(), f"the trainer trains: {made.said}{made.log(Role.TRAINER)}")
    for pid in made.payloads(Role.RUNTIME):
        os.kill(pid, signal.SIGKILL)
    began = time.monotonic()
    ended = made.ended(Role.TRAINER)
    assert time.monotonic() - began < SOON_S
    assert "the runtime" in ended.reason
    assert "ended" in ended.reason
    made.leaves_nothing()


def test_stop_leaves_nothing_and_is_named(site: Site) -> None:
    made = site.launch(WAITS)
    wait_until(lambda: (site.at / "begun").exists(), "the trainer trains")
    assert site.cluster.run(sys.executable, "-m", "skyrl_train", "stop", str(made.job_dir), cwd=site.at).returncode == 0
    made.leaves_nothing()
    for role in Role:
        assert made.ended(role).reason.startswith("stopped by signal 15: stopped with `skyrl-train stop` by ")
    assert "**SLM014 stopped-by-user**" in (made.job_dir / "summary.md").read_text()


def test_a_runtime_that_never_comes_up_ends_the_trainer(site: Site) -> None:
    made = site.launch(WAITS, runtime="bash -c 'echo no port left >&2; exit 3'")
    assert "the runtime" in made.ended(Role.TRAINER).reason
    assert "3" in made.ended(Role.TRAINER).reason
    assert made.ended(Role.RUNTIME).status == 3
    made.leaves_nothing()


def test_a_url_with_log_lines_in_it_is_no_url(site: Site) -> None:
    dirty = "printf 'Loading\\nhttp://127.0.0.1:1\\n' > job/runtime_url.txt; touch job/runtime_ready.flag; sleep 600"
    made = site.launch(WAITS, runtime=bash(dirty))
    assert "some program printed into this file" in made.ended(Role.TRAINER).reason
    made.leaves_nothing()


def test_a_directory_of_an_earlier_launch_is_not_taken(site: Site) -> None:
    (site.at / "job").mkdir()
    (site.at / "job" / "runtime_ready.flag").write_text("http://old\n")
    made = site.launch("true")
    assert made.status == 2
    assert "runtime_ready.flag of an earlier launch" in made.said
    assert site.cluster.jobs() == []


def test_a_doomed_run_is_stopped_by_the_watch_beside_it(site: Site) -> None:
    dies = "ValueError: max_tokens=4000 cannot be greater than max_model_len=2048. Please request fewer output tokens."
    config = CONFIG + '[watch]\non_root = "stop"\nsettle_s = 1\ngrace_s = 5\n'
    trainer = bash(f"echo 'Generating:   0%|          | 0/8' >&2; echo {shlex.quote(dies)} >&2; sleep {SLEEPS_S}")
    made = site.launch(trainer, config=config)
    began = time.monotonic()
    ended = made.ended(Role.TRAINER)
    assert time.monotonic() - began < SLEEPS_S / 2
    assert ended.status != 0
    assert "CFG001" in (made.job_dir / "events.jsonl").read_text()
    made.leaves_nothing()
    assert "CFG001" in (made.job_dir / "summary.md").read_text()
