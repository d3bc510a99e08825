"""events.jsonl: each line once and whole, through kills and full disks."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.watch.sink.events import Events, Ledger, event, read


def keys(path: Path) -> list[str]:
    return [str(one["key"]) for one in read(str(path))]


def test_a_line_is_what_was_promised(tmp_path: Path) -> None:
    events = Events(str(tmp_path / "events.jsonl"))
    events.add(event("finding", 1_767_225_600.1234, key="A", message="\u2028 \udc80 \n"))
    assert events.flush()
    (line,) = (tmp_path / "events.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    assert json.loads(line) == {
        "schema": 1,
        "event": "finding",
        "at": 1767225600.123,
        "time": "2026-01-01T00:00:00.123+00:00",
        "key": "A",
        "message": "\u2028 ? \n",
    }


def test_a_line_that_was_cut_costs_itself_alone(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text('{"schema": 1, "event": "finding", "key": "A"}\n{"schema": 1, "ev', encoding="utf-8")
    events = Events(str(path))
    events.add(event("finding", 1.0, key="B"))
    assert events.flush()
    assert keys(path) == ["A", "B"]


def test_what_a_full_disk_refuses_comes_later(tmp_path: Path) -> None:
    events = Events("/dev/full")
    events.add(event("finding", 1.0, key="A"))
    assert not events.flush()
    assert events.trouble == "/dev/full: No space left on device"
    events.path = str(tmp_path / "events.jsonl")
    assert events.flush()
    assert (keys(tmp_path / "events.jsonl"), events.trouble, events.waiting) == (["A"], "", 0)


def test_a_disk_that_fills_in_the_middle_of_a_line(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    code = (
        "import resource, signal, sys\n"
        "from skyrl_doctor.watch.sink.events import Events, event\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "events = Events(sys.argv[1])\n"
        "[events.add(event('finding', 1.0, key=f'K{n}')) for n in range(6)]\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (250, resource.RLIM_INFINITY))\n"
        "print(events.flush(), events.waiting)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))\n"
        "print(events.flush(), events.waiting)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, timeout=300, check=True
    )
    assert done.stdout == "False 4\nTrue 0\n"
    assert keys(path) == ["K0", "K1", "K2", "K3", "K4", "K5"]
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


@given(st.lists(st.sampled_from("ABC"), max_size=12), st.integers(0, 12), st.integers(0, 12))
def test_whoever_takes_over_repeats_and_misses_nothing(said: list[str], saved: int, written: int) -> None:
    """The rules say `said`; the state was saved after some, the file holds as many or more, then the watch was killed."""
    saved, written = min(saved, len(said)), min(max(saved, written), len(said))
    in_state = {key: said[:saved].count(key) for key in "ABC"}
    in_file = {key: said[:written].count(key) for key in "ABC"}
    ledger = Ledger(in_file, in_state)
    again = [key for key in said[saved:] if ledger.is_new(key)]
    assert again == said[written:]


def test_reading_what_is_not_there(tmp_path: Path) -> None:
    assert list(read(str(tmp_path / "none"))) == []
    os.mkdir(tmp_path / "empty")
    (tmp_path / "x").write_text('[1]\n3\n{"schema": 2}\nnull\n', encoding="utf-8")
    assert list(read(str(tmp_path / "x"))) == []
