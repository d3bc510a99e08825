"""What a node finds, and how a running job ends, has one name: in `status`, in the post-mortem and in `diagnose`."""

import re
import sys

import pytest

from lanes.slurm.costs import cost, launch, wrong
from lanes.slurm.faults import ON_NODES, TWO, WHILE_RUNNING, Fault
from lanes.slurm.lab import Cluster, wait_until
from lanes.slurm.site import Launched, Site
from skyrl_train.launch.role import Role

pytestmark = pytest.mark.slurm
ID = re.compile(r"\(([A-Z]{3}\d{3})\)")
ENDS = [fault for fault in WHILE_RUNNING if ID.search(fault.title)]
ON_ONE_NODE = [fault for fault in ON_NODES if fault.config is not TWO]


def title(fault: Fault) -> str:
    return fault.title.replace(" ", "-")


@pytest.mark.parametrize("fault", ON_ONE_NODE, ids=title)
def test_a_node_finds_what_no_login_node_can_know(fault: Fault, site: Site) -> None:
    assert wrong(fault, cost(site.cluster, site.at, fault)) == ""


def names(cluster: Cluster, made: Launched) -> dict[str, str]:
    """The id with which each tells the end first."""
    status = cluster.run(sys.executable, "-m", "skyrl_train", "status", str(made.job_dir)).stdout
    diagnosis = cluster.run(sys.executable, "-m", "skyrl_doctor", "diagnose", str(made.job_dir)).stdout
    told = {
        "status": re.search(r"^doctor: +([A-Z]{3}\d{3}) ", status, re.MULTILINE),
        "summary": re.search(r"\*\*([A-Z]{3}\d{3}) ", (made.job_dir / "summary.md").read_text()),
        "diagnose": re.search(r"\b([A-Z]{3}\d{3})\b", diagnosis),
    }
    return {name: found[1] if found else "" for name, found in told.items()}


@pytest.mark.parametrize("fault", ENDS, ids=title)
def test_status_summary_and_diagnose_give_an_end_the_same_name(fault: Fault, site: Site) -> None:
    found = ID.search(fault.title)
    assert found is not None
    assert fault.harm is not None
    made = launch(site, fault)
    wait_until(lambda: (site.at / "begun").exists(), lambda: f"the trainer runs: {made.said}{made.log(Role.TRAINER)}")
    with fault.harm(site, made):
        made.ended(Role.TRAINER)
        for role in Role:
            site.cluster.wait(made.job(role))
        assert names(site.cluster, made) == dict.fromkeys(("status", "summary", "diagnose"), found[1])
