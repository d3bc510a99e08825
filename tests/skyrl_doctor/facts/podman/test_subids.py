"""Ranges of subordinate ids."""

from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.facts.podman.subids import (
    IdFile,
    MapTool,
    Range,
    parse_getsubids,
    parse_id_file,
    subid_source,
)
from skyrl_doctor.machine.questions import Stat

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
