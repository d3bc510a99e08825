"""What sandboxes are held to, who holds it, and what is refused because nobody can."""

import re
from typing import Any

import pytest

from skyrl_train.contracts.errors import UsageError
from skyrl_train.sandbox.runtime.limits import Holder, Limit, effective, told
from skyrl_train.sandbox.runtime.podman.host import Host, host_of
from skyrl_train.sandbox.runtime.settings import RuntimeSettings

SETTINGS = RuntimeSettings(slots=1, cpus=2, memory_mib=256, pids=64)
XFS = "36 35 8:1 / /srv rw,noatime shared:1 - xfs /dev/sdb1 rw,attr2,prjquota\n"
ROOT = "35 1 8:0 / / rw - ext4 /dev/sda1 rw\n"


def info(**changes: Any) -> dict[str, Any]:
    store = {"graphDriverName": "overlay", "graphRoot": "/srv/graph", "graphStatus": {"Backing Filesystem": "xfs"}}
    return {"host": {"security": {"rootless": changes.pop("rootless", False)}}, "store": {**store, **changes}}


def test_on_xfs_with_project_quotas_the_disk_is_limited() -> None:
    host = host_of(info(), mounts=ROOT + XFS)
    assert (host.disk_quota, host.why_no_disk) == (True, "")


@pytest.mark.parametrize(
    ("changes", "mounts", "why"),
    [
        ({"rootless": True}, XFS, "it is overlay on xfs, rootless; wanted overlay on xfs that is mounted with pquota, and rootful Podman"),
        ({"graphDriverName": "vfs"}, XFS, "it is vfs on xfs, rootful; wanted overlay on xfs that is mounted with pquota, and rootful Podman"),
        ({"graphStatus": {}}, XFS, "it is overlay on unknown, rootful; wanted overlay on xfs that is mounted with pquota, and rootful Podman"),
        ({}, XFS.replace(",prjquota", ",noquota"), "it is overlay on xfs, rootful, mounted without project quotas; wanted the mount option pquota"),
        ({"graphRoot": "/srv2/graph"}, ROOT + XFS, "it is overlay on xfs, rootful, mounted without project quotas; wanted the mount option pquota"),
        ({}, "no mounts\n", "it is overlay on xfs, rootful, mounted without project quotas; wanted the mount option pquota"),
    ],
)  # fmt: skip
def test_every_other_driver_says_why_not(changes: dict[str, Any], mounts: str, why: str) -> None:
    host = host_of(info(**changes), mounts=mounts)
    assert (host.disk_quota, host.why_no_disk) == (False, why)


def test_a_limit_of_the_disk_that_nobody_holds_is_refused() -> None:
    settings = RuntimeSettings(slots=1, disk_mib=2048)
    wanted = r"sandbox.disk_mib = 2048: this driver cannot limit the disk of a sandbox: it is vfs; take disk_mib out"
    with pytest.raises(UsageError, match=re.escape(wanted)):
        effective(settings, Host(why_no_disk="it is vfs"))
    found = effective(settings, Host(limits=True, disk_quota=True))
    assert found[-1] == Limit(what="disk_mib", value=2048, held_by=Holder.DRIVER)


@pytest.mark.parametrize(("cgroups", "cpus", "rest"), [(True, "cgroup", "cgroup"), (False, "nobody", "sandboxd")])
def test_who_holds_what_is_told(cgroups: bool, cpus: str, rest: str) -> None:
    limits = effective(SETTINGS, Host(limits=cgroups, open_files=1000))
    assert told(limits) == {
        "cpus": f"2 ({cpus})",
        "memory_mib": f"256 ({rest})",
        "processes": f"64 ({rest})",
        "open_files": "1000 (rlimit)",
    }
