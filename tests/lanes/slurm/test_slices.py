"""What a job sees of MIG slices, from Slurm's own code, and what the doctor makes of it there."""

import json
import sys
from pathlib import Path

import pytest

from lanes.slurm.lab import GPU_PARTITION, SLICES, Cluster

pytestmark = pytest.mark.slurm
ROOT = Path(__file__).parents[3]
TARGET = ROOT / "examples" / "mig20.toml"
DOCTOR = f"{sys.executable} -m skyrl_doctor"


def seen(cluster: Cluster, at: Path, select: str, *options: str) -> dict[str, object]:
    """The outcome of one check inside a job of these options."""
    line = f"{DOCTOR} preflight {TARGET} --role gpu --select {select} --format json --output out.json"
    job = cluster.wait(cluster.submit(line, f"--partition={GPU_PARTITION}", *options, cwd=at))
    assert job.state in ("COMPLETED", "FAILED"), job
    (outcome,) = json.loads((at / "out.json").read_text())["outcomes"]
    return {"status": outcome["status"], "said": [found["message"] for found in outcome["findings"]]}


def test_a_slice_by_name_is_found(cluster: Cluster, tmp_path: Path) -> None:
    found = seen(cluster, tmp_path, "GPU001", "--gres=gpu:1")
    assert found["status"] == "fail"
    assert SLICES[0] in str(found["said"]) or SLICES[1] in str(found["said"])


def test_no_gres_leaves_the_variable_unset(cluster: Cluster, tmp_path: Path) -> None:
    assert seen(cluster, tmp_path, "GPU005")["status"] == "fail"
    assert seen(cluster, tmp_path, "GPU005", "--gres=gpu:1")["status"] == "pass"


def test_two_slices_are_refused(cluster: Cluster, tmp_path: Path) -> None:
    assert seen(cluster, tmp_path, "GPU002", "--gres=gpu:2")["status"] == "fail"
    assert seen(cluster, tmp_path, "GPU002", "--gres=gpu:1")["status"] == "pass"


def test_the_gate_ends_the_job_with_78(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(TARGET.read_text().replace("gpus_per_node = 1", "gpus_per_node = 2"))
    line = f"{DOCTOR} gate two.toml --role gpu --select GPU002 -- touch started"
    refused = cluster.wait(cluster.submit(line, f"--partition={GPU_PARTITION}", "--gres=gpu:2", cwd=tmp_path))
    assert (refused.state, refused.exit_code) == ("FAILED", 78)
    assert not (tmp_path / "started").exists()
    line = f"{DOCTOR} gate {TARGET} --role gpu --select GPU002 -- touch started"
    let = cluster.wait(cluster.submit(line, f"--partition={GPU_PARTITION}", "--gres=gpu:1", cwd=tmp_path))
    assert (let.state, let.exit_code) == ("COMPLETED", 0)
    assert (tmp_path / "started").exists()
