"""What a real sbatch makes of the #SBATCH lines that SLM005 reads."""

import pytest

from lanes.slurm.lab import GPU_PARTITION
from lanes.slurm.site import Site

pytestmark = pytest.mark.slurm


def nodes_and_name(site: Site, *lines: str) -> list[str]:
    """The nodes and the name that a job gets from these lines."""
    site.at.chmod(0o777)
    head = "\n".join((f"#SBATCH -p {GPU_PARTITION} -o {site.at}/out.txt", *lines))
    cluster = site.cluster
    cluster.wait(cluster.submit(f"{head}\necho $SLURM_JOB_NUM_NODES $SLURM_JOB_NAME", cwd=site.at))
    return (site.at / "out.txt").read_text(encoding="utf-8").split()


def test_fewer_tasks_than_nodes_take_the_other_nodes_away(site: Site) -> None:
    got = [nodes_and_name(site, f"#SBATCH {options}")[0] for options in ("-N2 -n1", "-N2 -n2", "-N2")]
    assert got == ["1", "2", "2"]


def test_the_first_line_that_is_no_comment_ends_the_options(site: Site) -> None:
    assert nodes_and_name(site, "# a", "", "#SBATCH --job-name=read") == ["1", "read"]
    assert nodes_and_name(site, "A=1", "#SBATCH --job-name=late") == ["1", "job.sh"]
