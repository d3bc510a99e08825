"""The file systems below a store."""

from fakes.podman_store import DIRECTORY, FILE, PLACES, STORE, XDG, Bare
from skyrl_doctor.facts.mounts import Mount, Mounts
from skyrl_doctor.facts.podman.file_systems import StoreDirectory, StoreFileSystems, store_file_systems
from skyrl_doctor.machine.queries import Space

GRAPH = PLACES.graph_root


ROOT = Mounts((Mount("/", "xfs", "/dev/sda"),))


def test_the_ground_below_a_store() -> None:
    space = {"total_bytes": 10, "free_bytes": 5, "free_inodes": 3}
    machine = Bare(
        {
            "environ": {"SLURM_JOB_START_TIME": "1795000000"},
            **{f"lstat {path}": DIRECTORY for path in ("/tmp", "/tmp/skyrl-1000-4711")},
            "space /tmp/skyrl-1000-4711": space,
            "writable /tmp/skyrl-1000-4711": True,
            f"stat {XDG}/libpod/tmp/alive": {**FILE, "mtime": 1000.0},
            "read /proc/stat": "cpu 1\nbtime 2000\n",
        }
    )
    mount = ROOT.mounts[0]
    assert store_file_systems(machine, STORE, ROOT) == StoreFileSystems(
        graph=StoreDirectory(path=GRAPH, resolved=GRAPH, exists=False, mount=mount, space=Space(**space)),
        run=StoreDirectory(
            path=f"{XDG}/containers", resolved=f"{XDG}/containers", exists=False, mount=mount, space=Space(**space)
        ),
        configured_graph=GRAPH,
        configured_run=f"{XDG}/containers",
        tmp_creatable=True,
        older_than_boot=True,
        job_started=1795000000.0,
    )


def test_the_space_of_a_network_mount_is_not_asked() -> None:
    mounts = Mounts((*ROOT.mounts, Mount("/tmp", "nfs4", "filer:/tmp")))
    found = store_file_systems(Bare({"writable /": False}), STORE, mounts)
    assert (found.graph.on_network, found.graph.space, found.tmp_creatable, found.job_started) == (
        True,
        None,
        False,
        None,
    )
