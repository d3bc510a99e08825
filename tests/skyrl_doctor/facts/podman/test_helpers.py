"""Podman's helpers, where Podman looks for them."""

from fakes.podman_store import FILE, STORE, Bare, store
from skyrl_doctor.facts.mounts import Mount, Mounts
from skyrl_doctor.facts.podman.helpers import HELPER_DIRS, Device, PodmanHelpers, podman_helpers
from skyrl_doctor.facts.podman.settings import EngineConf, StorageConf


def test_helpers_are_looked_for_where_podman_looks() -> None:
    machine = Bare(
        {
            "stat /usr/lib/podman/netavark": FILE,
            "stat /usr/lib/podman/pasta": {**FILE, "mode": 0o644},
            "which slirp4netns": "/usr/bin/slirp4netns",
            "stat /usr/bin/conmon": FILE,
            "stat /usr/bin/runc": FILE,
            "stat /dev/net/tun": {**FILE, "kind": "char"},
            "writable /dev/net/tun": False,
        }
    )
    assert podman_helpers(machine, STORE, None) == PodmanHelpers(
        found={
            "pasta": None,
            "slirp4netns": "/usr/bin/slirp4netns",
            "netavark": "/usr/lib/podman/netavark",
            "aardvark-dns": None,
            "fuse-overlayfs": None,
            "conmon": "/usr/bin/conmon",
            "runtime": "/usr/bin/runc",
        },
        searched=HELPER_DIRS,
        tun=Device(path="/dev/net/tun", kind="char", writable=False),
        fuse=Device(path="/dev/fuse", kind="", writable=False),
        mount_program_found=True,
        kernel="6.1.0",
    )


def test_configured_places_of_helpers_replace_the_others() -> None:
    engine = EngineConf(
        helper_dirs=("/own",), conmon_paths=("/own/conmon",), runtime="mine", runtimes={"mine": ("/own/mine",)},
        network_cmd_path="/own/slirp",
    )  # fmt: skip
    files = {f"stat /own/{name}": FILE for name in ("pasta", "conmon", "mine", "slirp")}
    found = podman_helpers(Bare(files), store(engine=engine, storage=StorageConf(mount_program="/nowhere")), None)
    assert isinstance(found, PodmanHelpers)
    assert found.found == {
        "pasta": "/own/pasta",
        "slirp4netns": "/own/slirp",
        "netavark": None,
        "aardvark-dns": None,
        "fuse-overlayfs": None,
        "conmon": "/own/conmon",
        "runtime": "/own/mine",
    }
    assert (found.searched, found.mount_program_found) == (("/own",), False)
    by_path = podman_helpers(Bare({"stat /x/crun": FILE}), store(engine=EngineConf(runtime="/x/crun")), None)
    assert by_path.found["runtime"] == "/x/crun"


def test_the_controllers_of_a_second_version_of_control_groups_are_read() -> None:
    machine = Bare({"read /sys/fs/cgroup/unified/cgroup.controllers": "hugetlb misc\n"})
    both = Mounts((Mount("/sys/fs/cgroup", "tmpfs", "t"), Mount("/sys/fs/cgroup/unified", "cgroup2", "c")))
    one = Mounts((Mount("/sys/fs/cgroup", "cgroup2", "c"),))
    found = [podman_helpers(machine, STORE, mounts).second_controllers for mounts in (both, one, None)]
    assert found == [("hugetlb", "misc"), (), ()]
