"""The filter job_submit.lua under a real slurmctld: which jobs get the gate, and how those end that it refuses."""

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from lanes.slurm.hooks import GPU, Installed
from lanes.slurm.lab import GPU_PARTITION, wait_until

pytestmark = pytest.mark.slurm
VLLM = "vllm serve model"
TWO = (f"--partition={GPU_PARTITION}", "--gres=gpu:2")
# It dies as vLLM does, where the devices are no numbers.
STANDIN = "#!/bin/sh\ncase $CUDA_VISIBLE_DEVICES in *[!0-9]*) exit 9 ;; esac\necho $CUDA_VISIBLE_DEVICES >>ran\n"
STARTS = {
    "exec": "exec vllm serve model",
    "step": "srun -n1 python3 -m vllm.entrypoints.openai.api_server --model m",
    "lines": "python3 -m \\\n  verl.trainer.main_ppo a=1",
    "shell": "bash -c 'vllm serve model'",
}


@dataclass
class Batch:
    """A batch job: its end, its log, and whether it was gated."""

    end: tuple[str, int]
    log: str
    gated: bool


def submitted(installed: Installed, at: Path, *words: str, **environ: str) -> str:
    """The id of a job whose programs are stand-ins."""
    (at / "bin").mkdir(parents=True)
    for name in ("vllm", "python3"):
        (at / "bin" / name).write_text(STANDIN)
        (at / "bin" / name).chmod(0o755)
    path = f"{at}/bin:{installed.cluster.env['PATH']}"
    done = installed.submit("--output=out", *words, at=at, PATH=path, **environ)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def ended(installed: Installed, at: Path, job_id: str) -> Batch:
    job = installed.cluster.wait(job_id)
    log = (at / "out").read_text() if (at / "out").exists() else ""
    return Batch((job.state, job.exit_code), log, "by job_submit.lua" in installed.script(job_id))


def batch(installed: Installed, at: Path, *words: str, **environ: str) -> Batch:
    return ended(installed, at, submitted(installed, at, *words, **environ))


def text(at: Path, text: str) -> str:
    (at / "job.sh").write_text(text)
    return "job.sh"


def test_a_job_of_vllm_or_of_a_trainer_is_gated_and_gets_its_settings(installed: Installed, tmp_path: Path) -> None:
    places = {tmp_path / name: line for name, line in STARTS.items()}
    jobs = {}
    for at, line in places.items():
        at.mkdir()
        script = text(at, f"#!/bin/bash\nset -eu\n{line}\n")
        jobs[at] = submitted(installed, at, *GPU, script)
    for at, job_id in jobs.items():
        found = ended(installed, at, job_id)
        assert (found.end, found.gated) == (("COMPLETED", 0), True), found.log
        assert (at / "ran").read_text() == "0\n"


@pytest.mark.parametrize(
    ("options", "script"),
    [
        ((), f"#!/bin/bash\n{VLLM}\n"),
        (GPU, "#!/bin/bash\ntrue\n"),
        (TWO, "#!/bin/bash\npython3 -c 'import vllm'\n"),
        (GPU, f"#!/bin/bash\n# {VLLM}\necho {VLLM}\n"),
        (GPU, f"#!/bin/bash\n# skyrl-doctor: no\n{VLLM}\n"),
        (GPU, f"#!/bin/bash\nexport CUDA_VISIBLE_DEVICES=0\n{VLLM}\n"),
        (GPU, "#!/usr/bin/perl\nsystem('vllm serve model');\n"),
        (GPU, "#!/usr/bin/env python3\nimport os\nos.system('vllm serve model')\n"),
    ],
)
def test_every_other_job_is_left_alone(
    installed: Installed, tmp_path: Path, options: tuple[str, ...], script: str
) -> None:
    done = installed.submit("--hold", *options, text(tmp_path, script), at=tmp_path)
    assert installed.script(done.stdout.strip()) == script


def test_a_refusal_names_the_gate_the_rule_and_the_line_that_opts_out(installed: Installed, tmp_path: Path) -> None:
    found = batch(installed, tmp_path, *TWO, "--wrap", VLLM)
    assert (found.end, found.gated) == (("FAILED", 78), True)
    assert not (tmp_path / "ran").exists()
    for words in ("job_submit.lua", "GPU001", "# skyrl-doctor: no"):
        assert words in found.log


def test_without_the_task_prolog_the_advice_of_the_refusal_is_enough(installed: Installed, tmp_path: Path) -> None:
    refused = batch(installed, tmp_path / "one", *GPU, "--wrap", VLLM, SKYRL_DOCTOR_ENV="off")
    assert refused.end == ("FAILED", 78)
    advice = "export CUDA_VISIBLE_DEVICES=0"
    assert advice in refused.log
    script = text(tmp_path, f"#!/bin/sh\n{advice}\n{VLLM}\n")
    assert batch(installed, tmp_path / "two", *GPU, f"../{script}", SKYRL_DOCTOR_ENV="off").end == ("COMPLETED", 0)


def test_the_whole_node_is_not_advised_to_ask_for_what_it_asked(installed: Installed, tmp_path: Path) -> None:
    found = batch(installed, tmp_path, *GPU, "--exclusive", "--wrap", VLLM)
    assert found.end == ("FAILED", 78)
    assert "--exclusive" in found.log


def test_each_task_of_an_array_is_gated(installed: Installed, tmp_path: Path) -> None:
    job_id = submitted(installed, tmp_path, *GPU, "--array=0-1", "--output=out.%a", "--wrap", VLLM)
    assert "by job_submit.lua" in installed.script(job_id)
    wait_until(lambda: job_id not in " ".join(installed.cluster.jobs()), "both tasks have ended")
    assert [(tmp_path / f"out.{number}").read_text().count("verdict: pass") for number in (0, 1)] == [1, 1]


def test_of_a_heterogeneous_job_the_first_part_decides(installed: Installed, tmp_path: Path) -> None:
    """The script runs on its first node."""
    first = batch(installed, tmp_path / "one", *GPU, ":", "--partition=test", "--wrap", VLLM)
    assert (first.end, first.gated) == (("COMPLETED", 0), True), first.log
    second = batch(installed, tmp_path / "two", "--partition=test", ":", *GPU, "--wrap", "true || vllm serve model")
    assert (second.end, second.gated) == (("COMPLETED", 0), False), second.log


def test_a_job_within_a_launch_writes_no_verdict_for_it(installed: Installed, tmp_path: Path) -> None:
    found = batch(installed, tmp_path, *GPU, "--wrap", VLLM, SKYRL_JOB_DIR=str(tmp_path))
    assert found.end == ("COMPLETED", 0), found.log
    assert not (tmp_path / "verdict.json").exists()


OF_SITE = """
function slurm_job_submit(job, parts, uid)
  if job.comment == "refuse" then slurm.user_msg("refused by the site") return slurm.ERROR end
  if job.comment == "silent" then return end
  job.comment = "seen"
  return slurm.SUCCESS
end
function slurm_job_modify(job, record, parts, uid)
  if job.comment == "refuse" then slurm.user_msg("change refused by the site") return slurm.ERROR end
  return slurm.SUCCESS
end
"""
FINAL = "return slurm.SUCCESS\n"


def replace(path: Path, text: str) -> None:
    """slurmctld reads the file again only if it is newer, by whole seconds."""
    later = path.stat().st_mtime + 60
    path.write_text(text)
    os.utime(path, (later, later))


def test_a_site_with_a_filter_of_its_own_adds_ours_by_the_line_of_the_docs(installed: Installed) -> None:
    base = installed.cluster.base
    page = (Path(__file__).parents[3] / "docs" / "slurm-site.md").read_text()
    line = page.partition("```lua\n")[2].partition("```")[0]
    assert "before its final `return`" in page
    own, kept = base / "job_submit.lua", (base / "job_submit.lua").read_text()
    ours = base / "site" / "ours.lua"
    ours.write_text(kept)
    try:
        replace(own, OF_SITE + line.replace("/etc/slurm/skyrl/job_submit.lua", str(ours)) + FINAL)
        refused = installed.submit("--hold", "--comment=refuse", *GPU, "--wrap", VLLM, at=base)
        assert (refused.returncode, "refused by the site" in refused.stderr) == (1, True), refused.stderr
        job_id = installed.submit("--hold", *GPU, "--wrap", VLLM, at=base).stdout.strip()
        assert "by job_submit.lua" in installed.script(job_id)
        assert "Comment=seen" in installed.cluster.run("scontrol", "show", "job", job_id).stdout
        silent = installed.submit("--hold", "--comment=silent", *GPU, "--wrap", VLLM, at=base).stdout.strip()
        assert "by job_submit.lua" in installed.script(silent)  # Slurm takes a filter without an answer for a yes
        changes = {
            word: installed.cluster.run("scontrol", "update", f"JobId={job_id}", f"Comment={word}")
            for word in ("refuse", "other")
        }
        assert {word: done.returncode for word, done in changes.items()} == {"refuse": 1, "other": 0}, changes
        assert "Comment=other" in installed.cluster.run("scontrol", "show", "job", job_id).stdout
    finally:
        replace(own, kept)
