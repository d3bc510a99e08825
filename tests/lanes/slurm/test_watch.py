"""The watch's policies on a real Slurm: a doomed job is cancelled, or put back on hold with the reason."""

import subprocess
import sys
from pathlib import Path

import pytest

from lanes.slurm.lab import LIMIT_S, Cluster, wait_until

pytestmark = pytest.mark.slurm
REFUSED = "ValueError: 'max_tokens' or 'max_completion_tokens' is too large: 4000."
DOOMED = f"trap 'echo told; exit 0' TERM\necho \"{REFUSED}\" > vllm.log\nwhile :; do sleep 0.1; done\n"


def watched(cluster: Cluster, at: Path, policy: str) -> str:
    """The id of the job, after a watch of it came to its end."""
    job_id = cluster.submit(DOOMED, cwd=at)
    wait_until(lambda: (at / "vllm.log").exists(), "the job writes its log")
    command = (sys.executable, "-m", "skyrl_doctor", "watch", str(at), "--job", job_id, "--on-root", policy)
    quick = ("--settle", "0.5", "--grace", "1", "--tick", "0.1", "--no-samplers")
    with subprocess.Popen((*command, *quick), env=dict(cluster.env)) as watch:
        wait_until(lambda: '"action"' in (at / "events.jsonl").read_text() and _acted(at) >= 2, "the watch acts")
        watch.terminate()
        assert watch.wait(LIMIT_S) == 1
    return job_id


def _acted(at: Path) -> int:
    return (at / "events.jsonl").read_text().count('"event": "action"')


def test_a_doomed_job_is_asked_and_then_cancelled(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").touch()
    job = cluster.wait(watched(cluster, tmp_path, "stop"))
    assert job.state == "CANCELLED"


def test_a_doomed_job_is_put_back_on_hold_with_the_reason(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").touch()
    job_id = watched(cluster, tmp_path, "hold")
    wait_until(lambda: cluster.job(job_id).state == "PENDING", "the job is back in the queue")
    assert cluster.job(job_id).reason in ("JobHeldUser", "job_requeued_in_held_state")
    assert "Comment=skyrl-doctor: CFG001" in cluster.run("scontrol", "show", "job", job_id).stdout
