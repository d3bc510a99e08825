"""What /proc says of a process's environment, from its first moment on."""

import os
import subprocess
import time

from skyrl_train.procfs import environ_of


def test_a_process_that_has_just_begun_is_known_by_its_environment() -> None:
    """/proc shows none until the program is there: without a second look some of these are missed."""
    for _ in range(60):
        child = subprocess.Popen(["sleep", "600"], env={"PATH": os.environ["PATH"], "MARK": "x"})
        try:
            assert b"MARK=x" in environ_of(child.pid)
        finally:
            child.kill()
            child.wait()


def test_who_has_none_is_not_waited_for() -> None:
    began = time.monotonic()
    with subprocess.Popen(["/bin/sh", "-c", "exec env -i cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(b"x\n")
        child.stdin.flush()
        assert child.stdout.readline() == b"x\n"
        for _ in range(100):
            assert environ_of(child.pid) == [b""]
        assert environ_of(2) == [b""]  # a thread of the kernel, or nobody
    assert time.monotonic() - began < 25
