"""A trainer job of two nodes on a real Slurm, with a stand-in for Ray: one cluster, one look at all nodes, one end."""

import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from lanes.slurm.lab import Cluster, a_cluster, processes_with, wait_until
from lanes.slurm.many import left
from lanes.slurm.site import CONFIG, Launched, Site, bash
from skyrl_train.launch import node_files
from skyrl_train.launch.directory import Ended, read_ended
from skyrl_train.launch.role import Role

pytestmark = pytest.mark.slurm
RAY = Path(__file__).parent / "standin_ray"
NODES = ("gpu1", "gpu2")
TWO = CONFIG.replace("[slurm]", "[slurm]\nnodes = 2").replace("train_batch_size = 1", "train_batch_size = 2")
TWO += '[actor]\nppo_mini_batch_size = 2\n[env]\nOF_THE_CONFIG = "1"\n'
WAITS = "bash -c 'touch begun; sleep 600'"


@pytest.fixture(scope="module")
def two_nodes() -> Iterator[Cluster]:
    if os.getuid() != 0:
        pytest.skip("the slurm lane needs root: slurmd starts jobs as their users")
    with tempfile.TemporaryDirectory(prefix="sl", dir="/tmp", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        with a_cluster(Path(name), gpu_nodes=NODES) as cluster:
            yield cluster


@pytest.fixture
def site(two_nodes: Cluster, tmp_path: Path) -> Iterator[Site]:
    yield Site(two_nodes, tmp_path)
    two_nodes.clear()


def launch(site: Site, trainer: str, *words: str, config: str = TWO, **more: str) -> Launched:
    path = f"{RAY}:{site.cluster.env['PYTHONPATH']}"
    return site.launch(trainer, *words, config=config, PYTHONPATH=path, **more)


def launch_with_scratch(site: Site, in_the_task_on_gpu2: str) -> Launched:
    """Each node has a place of its own for what its settings make, and every Python of the step on gpu2 runs this first."""
    for node in NODES:
        (site.at / f"scratch_{node}").mkdir()
    (site.at / "sitecustomize.py").write_text(
        "import os, sys\n"
        f"os.environ['TMPDIR'] = {str(site.at)!r} + '/scratch_' + os.environ.get('SLURMD_NODENAME', 'gpu1')\n"
        "if os.environ.get('SLURMD_NODENAME') == 'gpu2' and 'SLURM_PROCID' in os.environ:\n"
        f"    {in_the_task_on_gpu2}\n"
    )
    return site.launch(WAITS, config=TWO, PYTHONPATH=f"{site.at}:{RAY}:{site.cluster.env['PYTHONPATH']}")


def ended(made: Launched) -> Ended:
    """Two looks by the doctor and two Rays take their time on a machine that does other things too."""
    wait_until(lambda: read_ended(str(made.job_dir), Role.TRAINER), f"the trainer tells its end: {made.said}")
    return made.ended(Role.TRAINER)


def of_node(made: Launched, node: str) -> list[int]:
    marks = (f"SKYRL_JOB_DIR={made.job_dir}", f"SLURMD_NODENAME={node}")
    return sorted(set.intersection(*(set(processes_with(mark)) for mark in marks)))


def of_ray(made: Launched, node: str) -> int:
    """The process of a node's Ray."""
    for pid in of_node(made, node):
        with suppress(OSError):
            if "ray.scripts.scripts" in Path(f"/proc/{pid}/cmdline").read_text():
                return pid
    raise AssertionError(f"no Ray on {node}")


def begun(site: Site, made: Launched) -> None:
    wait_until(lambda: (site.at / "begun").exists(), f"the trainer runs: {made.said}{made.log(Role.TRAINER)}")


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
    assert {one["id"]: one["reason"] for one in report["outcomes"]}["SLM003"] == "gpu2: no answer within 45 s"


def test_a_worker_s_ray_that_dies_is_named(site: Site) -> None:
    made = launch(site, WAITS)
    begun(site, made)
    os.kill(of_ray(made, "gpu2"), signal.SIGKILL)
    assert "node gpu2: Ray ended with -9" in ended(made).reason
    made.leaves_nothing()


def test_a_worker_that_is_killed_whole_is_named_and_nothing_of_it_is_left(site: Site) -> None:
    made = launch_with_scratch(site, "pass")
    begun(site, made)
    for pid in of_node(made, "gpu2"):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert "node gpu2 ended without a word" in ended(made).reason
    made.leaves_nothing()
    assert list(site.at.glob("scratch_*/skyrl-*")) == []


def test_the_trainer_s_own_end_is_the_job_s(site: Site) -> None:
    made = launch(site, "bash -c 'exit 3'")
    end = ended(made)
    assert (end.status, end.reason) == (3, "node gpu1: the trainer ended with 3")
    made.leaves_nothing()


def test_stop_leaves_nothing_on_either_node(site: Site) -> None:
    made = launch(site, WAITS)
    begun(site, made)
    assert site.cluster.run(sys.executable, "-m", "skyrl_train", "stop", str(made.job_dir), cwd=site.at).returncode == 0
    made.leaves_nothing()
    assert "stopped by signal" in ended(made).reason


def test_a_warning_before_the_limit_reaches_the_trainer(site: Site) -> None:
    waits = "trap 'touch warned; exit 0' USR1; touch begun; while :; do sleep 0.1; done"
    made = launch(site, bash(waits))
    begun(site, made)
    site.cluster.run("scancel", "--signal=USR1", "--batch", made.job(Role.TRAINER))
    assert ended(made).status == 0, made.log(Role.TRAINER)
    assert (site.at / "warned").exists()
    made.leaves_nothing()


def test_the_time_limit_leaves_nothing_on_either_node(site: Site) -> None:
    """Slurm looks at time limits twice a minute."""
    made = launch_with_scratch(site, "pass")
    begun(site, made)
    job_id = made.job(Role.TRAINER)
    soon = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(time.time() + 2))
    assert site.cluster.run("scontrol", "update", f"JobId={job_id}", f"EndTime={soon}").returncode == 0
    assert site.cluster.wait(job_id).state == "TIMEOUT", (made.ended(Role.TRAINER), made.log(Role.TRAINER))
    assert "stopped by signal" in made.ended(Role.TRAINER).reason
    made.leaves_nothing()
    assert list(site.at.glob("scratch_*/skyrl-*")) == []


def test_a_worker_node_that_slurm_gives_up_ends_the_job_on_both(site: Site) -> None:
    """Its slurmd is killed. The other node's processes hear of it, and so do those that still run on the lost one."""
    made = launch_with_scratch(site, "pass")
    begun(site, made)
    node = next(one for one in site.cluster.daemons if "gpu2" in one.args)  # type: ignore[operator]  # a list of words
    node.send_signal(signal.SIGKILL)
    node.wait(60)
    try:
        down = ("scontrol", "update", "NodeName=gpu2", "State=DOWN", "Reason=lost")
        assert site.cluster.run(*down).returncode == 0
        assert site.cluster.wait(made.job(Role.TRAINER)).state == "NODE_FAIL"
        wait_until(lambda: not left(made.job_dir), lambda: f"nothing is left: {left(made.job_dir)}")
        wait_until(lambda: not list(site.at.glob("scratch_*/skyrl-*")), "no directory is left")
    finally:
        site.cluster.revive("gpu2")
