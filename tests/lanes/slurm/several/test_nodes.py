"""A trainer job of two nodes on a real Slurm, with a stand-in for Ray: one cluster, and one look at all nodes."""

import json
import sys

import pytest

from lanes.slurm.lab import wait_until
from lanes.slurm.several.two import NODES, ended, launch, launch_with_scratch
from lanes.slurm.site import Site, bash
from skyrl_train.launch import node_files
from skyrl_train.launch.role import Role

pytestmark = pytest.mark.slurm


def test_two_nodes_are_one_ray_cluster(site: Site) -> None:
    trains = (
        "echo $RAY_ADDRESS $SKYRL_JOB_NODE $OF_THE_CONFIG > seen; cat job/ray/node_gpu2.json > worker; echo x >> runs"
    )
    made = launch(site, bash(trains))
    assert made.status == 0, made.said
    assert (ended(made).status, ended(made).reason) == (0, ""), made.log(Role.TRAINER)
    made.leaves_nothing()
    address, node, variable = (site.at / "seen").read_text().split()
    assert (address.split(":")[0], node, variable) == ("127.0.0.1", "gpu1", "1")
    assert json.loads((site.at / "worker").read_text())["state"] in ("starting", "up")  # it tells so beside its Ray
    assert (site.at / "runs").read_text() == "x\n"  # on the head alone
    assert oct((made.job_dir / "ray" / "token").stat().st_mode & 0o777) == "0o600"
    assert {one.state for one in node_files.states(str(made.job_dir), NODES).values()} == {"ended"}
    report = json.loads((made.job_dir / "gate_trainer.json").read_text())
    assert report["nodes"] == {"passing": ["gpu1", "gpu2"], "failing": [], "unknown": []}


def test_a_node_that_differs_is_named_by_the_gate(site: Site) -> None:
    """Its Ray is another: a majority of one against one has no winner, and both are named. What the look made on them goes."""
    other = site.at / "other"
    other.mkdir()
    (other / "ray-2.50.0.dist-info").mkdir()
    (other / "ray-2.50.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: ray\nVersion: 2.50.0\n")
    made = launch_with_scratch(site, f"sys.path.insert(0, {str(other)!r})")
    end = ended(made)
    assert end.status == 78
    assert "SLM003 ray differs: absent on gpu1; 2.50.0 on gpu2" in end.reason
    made.leaves_nothing()
    assert list(site.at.glob("scratch_*/skyrl-*")) == []
    assert not (site.at / "begun").exists()


def test_a_job_that_is_cancelled_while_its_nodes_are_looked_at_leaves_nothing_on_them(site: Site) -> None:
    made = launch_with_scratch(
        site, "if sys.orig_argv[2:4] == ['skyrl_doctor', 'preflight']: import time; time.sleep(600)"
    )
    wait_until(lambda: list(site.at.glob("scratch_gpu2/skyrl-*")), f"gpu2 is looked at: {made.said}")
    assert site.cluster.run(sys.executable, "-m", "skyrl_train", "stop", str(made.job_dir), cwd=site.at).returncode == 0
    assert "stopped by signal" in ended(made).reason
    made.leaves_nothing()
    assert list(site.at.glob("scratch_*/skyrl-*")) == []


def test_a_node_that_does_not_answer_is_unknown_and_the_others_are_told(site: Site) -> None:
    (site.at / "sitecustomize.py").write_text(
        "import os, time\n"
        "if os.environ.get('SLURMD_NODENAME') == 'gpu2' and 'SLURM_PROCID' in os.environ: time.sleep(600)\n"
    )
    look = f"{sys.executable} -m skyrl_doctor preflight --role gpu --nodes --deadline 15 --select ENV016"
    script = f"PYTHONPATH={site.at} {look} --node-dir nodes --format json --output out.json; echo $? > code"
    job = site.cluster.submit(script, "--partition=gpu_test", "--nodes=2", "--ntasks-per-node=1", cwd=site.at)
    site.cluster.wait(job)
    report = json.loads((site.at / "out.json").read_text())
    assert report["nodes"] == {"passing": ["gpu1"], "failing": [], "unknown": ["gpu2"]}
    assert (site.at / "code").read_text() == "3\n"
    assert (site.at / "nodes" / "nodes_unknown.txt").read_text() == "gpu2\n"
    assert {one["id"]: one["reason"] for one in report["outcomes"]}["SLM003"] == "gpu2: no report within 45 s"
