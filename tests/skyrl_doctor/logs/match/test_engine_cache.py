"""What is kept from one run to the next is whole, is the user's own, and never stops a diagnosis."""

import os
from pathlib import Path

import pytest

from skyrl_doctor.logs.match.engine_cache import cache_path, load, store
from skyrl_doctor.logs.match.engines import make_engine

KEY = ["1", "abc"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = cache_path(KEY)
    assert path is not None
    return path


def test_what_is_stored_is_loaded(place: Path) -> None:
    assert load(place) is None
    store(place, b"database")
    assert load(place) == b"database"
    assert [file.name for file in place.parent.iterdir()] == [place.name]
    assert cache_path([*KEY, "more"]) != place


def test_what_is_damaged_or_open_to_others_is_not_taken(place: Path) -> None:
    store(place, b"database")
    whole = place.read_bytes()
    place.write_bytes(whole[:-1])
    assert load(place) is None
    place.write_bytes(whole)
    place.chmod(0o622)
    assert load(place) is None
    place.unlink()
    place.symlink_to("/etc/hostname")
    assert load(place) is None


def test_a_directory_that_cannot_be_written_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store(tmp_path / "file" / "x.hyperscan", b"database")
    assert load(tmp_path / "file" / "x.hyperscan") is None
    assert load(None) is None


def test_the_engine_from_the_cache_finds_the_same(place: Path) -> None:
    patterns = ["No available worker slots", r"Error: \d+"]
    text = b"x\nError: 5\nNo available worker slots\n"
    first = make_engine(patterns, "hyperscan").places(text)
    assert len(list(place.parent.iterdir())) == 1
    assert make_engine(patterns, "hyperscan").places(text) == first
    for file in place.parent.iterdir():
        file.write_bytes(b"rubbish")
    assert make_engine(patterns, "hyperscan").places(text) == first


def test_what_other_patterns_made_is_not_taken(place: Path) -> None:
    text = b"abcdefgh\nijklmnop\n"
    assert make_engine(["abcdefgh"], "hyperscan").places(text) == [(7, 0)]
    assert make_engine(["ijklmnop"], "hyperscan").places(text) == [(16, 0)]
    whole = [file.read_bytes() for file in place.parent.iterdir()]
    assert len({*whole}) == len(whole) == 2


def test_a_stored_text_that_is_none_of_ours_is_made_anew(place: Path) -> None:
    text = b"abcdefgh\n"
    found = make_engine(["abcdefgh"], "hyperscan").places(text)
    for rubbish in (b"[0]\nno database", b"no numbers", b"[0]\n"):
        for file in place.parent.iterdir():
            store(file, rubbish)
        assert make_engine(["abcdefgh"], "hyperscan").places(text) == found


def aged(place: Path, name: str, at_s: int) -> Path:
    file = place.with_name(name)
    file.write_bytes(b"")
    os.utime(file, (at_s, at_s))
    return file


def test_the_oldest_of_ours_go_and_nothing_else_does(place: Path) -> None:
    place.parent.mkdir()
    old = [aged(place, f"{at:032x}.{end}", at) for at, end in enumerate(["hyperscan", "4711", *["hyperscan"] * 8])]
    strange = [aged(place, name, 0) for name in ("notes.hyperscan", f"{99:032x}.json")]
    link = place.with_name(f"{98:032x}.hyperscan")
    link.symlink_to("/etc/hostname")
    directory = place.with_name(f"{97:032x}.hyperscan")
    directory.mkdir()
    store(place, b"database")
    assert set(place.parent.iterdir()) == {*old[-7:], *strange, link, directory, place}


def test_what_is_used_stays(place: Path) -> None:
    store(place, b"database")
    os.utime(place, (0, 0))
    assert load(place) == b"database"
    for at in range(8):
        aged(place, f"{at:032x}.hyperscan", at)
    other = cache_path([*KEY, "more"])
    assert other is not None
    store(other, b"other")
    assert place.exists()
