"""What the processes of a container hold, counted from outside."""

import os
import signal
import subprocess

import pytest

from skyrl_train.sandbox.runtime.podman import namespaces

LIMITS = {"descriptors": 1000, "inotify": 0, "pipe_pages": 0}


def test_a_pipe_is_counted_once_for_all_that_hold_it() -> None:
    ends = os.pipe()
    twice = os.dup(ends[0])
    try:
        seen: set[str] = set()
        before = namespaces.count_descriptors(os.getpid(), seen, 4096)
        assert before["pipe_pages"] >= 16
        assert namespaces.count_descriptors(os.getpid(), seen, 4096)["pipe_pages"] == 0
        assert namespaces.count_descriptors(os.getpid(), set(), 2)["descriptors"] == 3
    finally:
        for each in (*ends, twice):
            os.close(each)


@pytest.mark.parametrize(("name", "most"), [("descriptors", 2), ("pipe_pages", 15)])
def test_the_process_with_most_is_killed(name: str, most: int) -> None:
    with subprocess.Popen(["sleep", "60"], stdin=subprocess.PIPE) as child:
        said = namespaces.hold([child.pid], {**LIMITS, name: most})
        assert f"more than this sandbox's share of {most}; processes killed: 1" in said
        assert child.wait(30) == -signal.SIGKILL


def test_what_is_within_its_share_goes_on() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        assert namespaces.hold([child.pid], LIMITS) == ""
        assert child.poll() is None
        child.kill()
