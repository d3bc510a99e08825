"""The TaskProlog and a launch where each job has a /tmp of its own (job_container/tmpfs)."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanes.slurm.hooks import CONTRIB
from lanes.slurm.lab import FAKE, Cluster, a_cluster, wait_until
from lanes.slurm.many import a_payload, left
from lanes.slurm.site import CONFIG, Launched, bash
from skyrl_train.launch.role import Role

pytestmark = pytest.mark.slurm
LINES = "PrologFlags=Alloc,Contain\nJobContainerType=job_container/tmpfs\nTaskProlog={site}/taskprolog.sh\nEpilog={site}/epilog.sh\n"


@pytest.fixture
def private() -> Iterator[Cluster]:
    """A cluster outside /tmp, since nothing below the node's /tmp is visible in a job."""
    with tempfile.TemporaryDirectory(prefix="pt", dir="/var/tmp", ignore_cleanup_errors=True) as name:
        base = Path(name)
        base.chmod(0o755)
        site = base / "site"
        shutil.copytree(CONTRIB, site)
        (site / "doctor").write_text("#!/bin/sh\necho export GIVEN=yes\n")
        (site / "doctor").chmod(0o755)
        (site / "site.sh").write_text(f"DOCTOR={site}/doctor\nTRAIN={site}/doctor\nLOG_DIR={site}/log\n")
        (base / "job_container.conf").write_text(f"AutoBasePath=true\nBasePath={base}/private\n")
        with a_cluster(base, LINES.format(site=site)) as cluster:
            yield cluster


def test_the_settings_lie_in_the_tmp_of_the_job(private: Cluster) -> None:
    script = "ls -d /tmp/skyrl-*; echo $GIVEN $SLURM_JOB_ID"
    done = private.run("srun", "-n2", "--overcommit", "sh", "-c", script, cwd=private.base, SKYRL_DOCTOR_ENV="runtime")
    job_id = done.stdout.split()[-1]
    directory = f"/tmp/skyrl-0-{job_id}"
    assert sorted(done.stdout.splitlines()) == [directory, directory, f"yes {job_id}", f"yes {job_id}"], done.stderr
    assert not Path(directory).exists()


PYTHON = os.path.realpath(sys.executable)
ROOT = Path(__file__).parents[3]


def skyrl_train(cluster: Cluster, at: Path, *words: str) -> "tuple[int, str]":
    """The exit status and the output of a copy of the program outside /tmp, which a job cannot see."""
    source = cluster.base / "source"
    if not source.exists():
        for package in ("skyrl_train", "skyrl_doctor", "checks"):
            shutil.copytree(ROOT / package, source / package, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(Path(__file__).with_name("standin_runtime.py"), source)
        shutil.copy(FAKE, source / "fake_nvml.py")
        driver = cluster.base / "python" / "pynvml.py"
        driver.write_text(driver.read_text().replace(str(FAKE), f"{source}/fake_nvml.py"))
    libraries = [path for path in sys.path if path.endswith("-packages") and not path.startswith("/tmp/")]
    path = ":".join((cluster.env["PYTHONPATH"], str(source), *libraries))
    done = cluster.run(PYTHON, "-m", "skyrl_train", *words, cwd=at, PYTHONPATH=path)
    return done.returncode, done.stdout + done.stderr


def launched(cluster: Cluster, name: str) -> Launched:
    """A launch whose trainer has made what a real one makes."""
    if PYTHON.startswith("/tmp/") or sys.prefix.startswith("/tmp/"):
        pytest.skip("a job with a private /tmp does not see this environment, which is below /tmp")
    at = cluster.base / name
    at.mkdir()
    (at / "run.toml").write_text(CONFIG)
    words = ["launch", "run.toml", "--job-dir", str(at / "job"), "--trainer-command", bash(a_payload("begun"))]
    words += ["--runtime-command", f"{PYTHON} {cluster.base}/source/standin_runtime.py {at / 'job'}"]
    made = Launched(cluster, at / "job", *skyrl_train(cluster, at, *words))
    assert made.status == 0, made.said
    wait_until(lambda: (at / "begun").exists() or (at / "job" / "trainer_ended.json").exists(), made.said)
    assert (at / "begun").exists(), made.log(Role.TRAINER)
    return made


def nothing_is_left(made: Launched) -> None:
    for role in Role:
        made.cluster.wait(made.job(role))
    wait_until(lambda: not left(made.job_dir), lambda: f"nothing is left: {left(made.job_dir)}")
    assert [str(path) for path in made.cluster.base.glob("private/**/skyrl-*")] == []


def test_a_launch_is_seen_stopped_and_swept(private: Cluster) -> None:
    made = launched(private, "stopped")
    status, said = skyrl_train(private, made.job_dir.parent, "status", str(made.job_dir))
    assert status == 0
    assert [said.count(words) for words in (" RUNNING", " answers")] == [2, 1], said
    assert skyrl_train(private, made.job_dir.parent, "stop", str(made.job_dir))[0] == 0
    assert made.ended(Role.TRAINER).reason.startswith("stopped by signal 15: stopped with `skyrl-train stop` by ")
    nothing_is_left(made)

    killed = launched(private, "killed")
    ids = [killed.job(role) for role in Role]
    assert private.run("scancel", "--signal=KILL", *ids).returncode == 0
    for job_id in ids:
        private.wait(job_id)
        wait_until(
            lambda job_id=job_id: skyrl_train(private, private.base, "sweep", job_id)[0] == 0, "the sweep is done"
        )
    nothing_is_left(killed)
