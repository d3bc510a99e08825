"""The TaskProlog where each job has a /tmp of its own (job_container/tmpfs)."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanes.slurm.hooks import CONTRIB
from lanes.slurm.lab import Cluster, a_cluster

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
