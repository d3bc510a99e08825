"""A role that a node of the cluster cannot play, before and inside a job."""

import shutil
import sys
from pathlib import Path

import pytest

from lanes.slurm.site import Site

pytestmark = pytest.mark.slurm
DOCTOR = f"{sys.executable} -m skyrl_doctor preflight --role runtime --select POD011"


@pytest.mark.parametrize("more", ["", " --nodes"])
def test_a_node_without_podman_is_no_runtime_node(site: Site, more: str) -> None:
    """Whatever this machine has: the job's PATH holds srun and no podman."""
    (site.at / "bin").mkdir()
    (site.at / "bin" / "srun").symlink_to(Path(shutil.which("srun") or ""))
    job = site.cluster.submit(f"PATH={site.at}/bin; {DOCTOR}{more} > report 2>&1", cwd=site.at)
    assert site.cluster.wait(job).exit_code == 1, (site.at / "report").read_text()
    assert "podman is not in the PATH of" in " ".join((site.at / "report").read_text().split())
