"""Whatever a login node can know is refused there: no job, and so no second of a GPU."""

from pathlib import Path

import pytest

from lanes.slurm.costs import cost, launch, wrong
from lanes.slurm.faults import AT_LOGIN, Fault
from lanes.slurm.lab import Cluster
from lanes.slurm.site import Site

pytestmark = pytest.mark.slurm


@pytest.mark.parametrize("fault", AT_LOGIN, ids=lambda fault: fault.title.replace(" ", "-"))
def test_the_login_node_refuses(fault: Fault, cluster: Cluster, tmp_path: Path) -> None:
    found = cost(cluster, tmp_path, fault)
    assert wrong(fault, found) == ""
    assert (found.jobs, found.gpu_s) == (0, 0.0)
    (tmp_path / "dry").mkdir()
    dry = launch(Site(cluster, tmp_path / "dry"), fault, "--dry-run")
    assert (dry.status, dry.said.replace(f"{tmp_path}/dry", str(tmp_path))) == (found.exit, found.said)
