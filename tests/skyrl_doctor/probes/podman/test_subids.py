"""Subordinate ids, from files and from a directory service."""

from typing import Any

import pytest

from fakes.podman_store import FILE, STORE, Bare, store
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.mounts import Mount, Mounts
from skyrl_doctor.facts.podman.program import Podman
from skyrl_doctor.facts.podman.subids import IdFile, MapTool, Range, SubIds
from skyrl_doctor.machine.questions import Stat
from skyrl_doctor.probes.podman.subids import sub_ids

ROOT = Mounts((Mount("/", "xfs", "/dev/sda"),))


PODMAN = Podman("/usr/bin/podman", (4, 3, 1))


SET_ID = {**FILE, "mode": 0o4755, "uid": 0}


TOOL_FILES = {f"which {name}": f"/usr/bin/{name}" for name in ("newuidmap", "newgidmap")}


def test_subordinate_ids_from_the_files() -> None:
    machine = Bare(
        {
            "environ": {"USER": "other"},
            "read /etc/subuid": "other:200000:65536\n1000:1:2\n",
            **TOOL_FILES,
            "stat /usr/bin/newuidmap": SET_ID,
            "stat /usr/bin/newgidmap": FILE,
            "run getcap /usr/bin/newgidmap": {"command": "getcap", "rc": 0, "out": "/usr/bin/newgidmap cap_setgid=ep"},
            "read /proc/sys/user/max_user_namespaces": "0\n",
        }
    )
    nosuid = Mounts((Mount("/", "xfs", "/dev/sda", ("rw", "nosuid")),))
    assert sub_ids(machine, PODMAN, STORE, nosuid) == SubIds(
        user="me",
        uid=1000,
        gid=1000,
        looked_up="other",
        uids=IdFile(source="/etc/subuid", ranges=(Range(200000, 65536), Range(1, 2)), free_from=265536),
        gids=IdFile(source="/etc/subgid", exists=False),
        tools=(
            MapTool(name="newuidmap", path="/usr/bin/newuidmap", stat=Stat(**SET_ID), nosuid=True),
            MapTool(name="newgidmap", path="/usr/bin/newgidmap", stat=Stat(**FILE), nosuid=True, capable=True),
        ),
        ignore_chown_errors=False,
        forbidden="/proc/sys/user/max_user_namespaces is 0",
    )


def test_subordinate_ids_from_a_directory_service() -> None:
    def ask(*answers: tuple[str, dict[str, Any]]) -> SubIds:
        machine = Bare({"read /etc/nsswitch.conf": "subid: sss\n", **dict(answers)})
        found = sub_ids(machine, Podman("/p", (5, 4, 2)), STORE, ROOT)
        assert isinstance(found, SubIds)
        return found

    uids = {"command": "getsubids", "rc": 0, "out": "0: me 200000 65536\n"}
    none = {"command": "getsubids", "rc": 1, "err": "Error fetching ranges\n"}
    found = ask(("run getsubids me", uids), ("run getsubids -g me", none))
    assert (found.uids, found.gids) == (
        IdFile(source="getsubids me (sss)", ranges=(Range(200000, 65536),)),
        IdFile(source="getsubids me (sss)"),
    )
    with pytest.raises(CouldNotLook, match=r"keeps subordinate ids in 'sss', and getsubids: no such command$"):
        ask()


def test_root_needs_no_subordinate_ids() -> None:
    with pytest.raises(NotApplicable):
        sub_ids(Bare({}), PODMAN, store(uid=0), ROOT)
