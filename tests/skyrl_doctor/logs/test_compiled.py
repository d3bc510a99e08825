"""What is kept from one run to the next is whole, is the user's own, and never stops a diagnosis."""

from pathlib import Path

import pytest

from skyrl_doctor.logs.compiled import cached, load, store
from skyrl_doctor.logs.engine import engine

KEY = ["1", "abc"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = cached(KEY)
    assert path is not None
    return path


def test_what_is_stored_is_loaded(place: Path) -> None:
    assert load(place) is None
    store(place, b"database")
    assert load(place) == b"database"
    assert [file.name for file in place.parent.iterdir()] == [place.name]
    assert cached([*KEY, "more"]) != place


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
    first = engine(patterns, "hyperscan").places(text)
    assert len(list(place.parent.iterdir())) == 1
    assert engine(patterns, "hyperscan").places(text) == first
    for file in place.parent.iterdir():
        file.write_bytes(b"rubbish")
    assert engine(patterns, "hyperscan").places(text) == first


def test_what_other_patterns_made_is_not_taken(place: Path) -> None:
    text = b"abcdefgh\nijklmnop\n"
    assert engine(["abcdefgh"], "hyperscan").places(text) == [(7, 0)]
    assert engine(["ijklmnop"], "hyperscan").places(text) == [(16, 0)]
    whole = [file.read_bytes() for file in place.parent.iterdir()]
    assert len({*whole}) == len(whole) == 2


def test_a_stored_text_that_is_none_of_ours_is_made_anew(place: Path) -> None:
    text = b"abcdefgh\n"
    found = engine(["abcdefgh"], "hyperscan").places(text)
    for rubbish in (b"[0]\nno database", b"no numbers", b"[0]\n"):
        for file in place.parent.iterdir():
            store(file, rubbish)
        assert engine(["abcdefgh"], "hyperscan").places(text) == found
