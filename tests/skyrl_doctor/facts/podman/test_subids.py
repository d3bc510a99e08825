"""Ranges of subordinate ids."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.podman_store import FILE, STORE, Bare, store
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.mounts import Mount, Mounts
from skyrl_doctor.facts.podman.program import Podman
from skyrl_doctor.facts.podman.subids import (
    IdFile,
    MapTool,
    Range,
    SubIds,
    parse_getsubids,
    parse_id_file,
    sub_ids,
    subid_source,
)
from skyrl_doctor.machine.queries import Stat

TEXT = "# comment\n\nme:200000:65536\n1000:300000:10\nother:100000:65536\nme:x:5\nme:1\n"


def test_reads_the_ranges_of_a_user_by_name_and_number() -> None:
    assert parse_id_file("/etc/subuid", TEXT, ("me", "1000")) == IdFile(
        source="/etc/subuid",
        ranges=(Range(200000, 65536), Range(300000, 10)),
        broken_lines=("me:x:5", "me:1"),
        free_from=300010,
    )
    assert parse_id_file("/etc/subuid", "", ("me",)) == IdFile(source="/etc/subuid")


def test_counts_and_contains() -> None:
    found = parse_id_file("/etc/subuid", TEXT, ("me", "1000"))
    assert (found.total, 200000 in found.ranges[0], 265536 in found.ranges[0]) == (65546, True, False)


def test_reads_getsubids() -> None:
    assert parse_getsubids("g", "0: me 200000 65536\njunk\n1: me x 5\n") == IdFile(
        source="g", ranges=(Range(200000, 65536),)
    )


def test_finds_where_the_ranges_are_kept() -> None:
    assert [subid_source(text) for text in ("", "passwd: files\nsubid: sss # directory\n", "#subid: sss\n")] == [
        "files",
        "sss",
        "files",
    ]


def test_a_tool_is_set_id_only_as_root_s() -> None:
    made = [
        MapTool(
            name="n", path="/n", stat=Stat(kind="file", mode=mode, uid=uid, gid=0, size=1, mtime=0, device=1, inode=1)
        )
        for mode, uid in ((0o4755, 0), (0o755, 0), (0o4755, 1000))
    ]
    assert [one.set_id for one in made] == [True, False, False]


@given(st.text())
def test_no_text_crashes_or_gives_ids(text: str) -> None:
    parse_getsubids("g", text)
    subid_source(text)
    found = parse_id_file("x", text, ("nobody-of-that-name",))
    assert found.total == 0


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
