"""What the enforcer of a sandbox says, and when."""

import os
import signal
import socket

import pytest

from skyrl_train.contracts.sandboxd_api import LIMIT
from skyrl_train.sandbox.sandboxd import limit_enforcer, socket_memory


@pytest.mark.parametrize("gone", [False, True])
def test_why_a_command_was_ended_is_known_before_it_is(monkeypatch: pytest.MonkeyPatch, gone: bool) -> None:
    """Whoever waits for the command asks at once, and a sandbox in which nothing else runs is over with it."""
    logged, known = list[str](), list[tuple[str, list[str]]]()
    made = limit_enforcer.LimitEnforcer(processes=4, memory_mib=0, log=logged.append)

    def kill(pid: int, number: signal.Signals) -> None:
        assert (pid, number) == (-1, signal.SIGKILL)
        known.append((made.said_since(0.0), list(logged)))
        if gone:
            raise ProcessLookupError

    monkeypatch.setattr(limit_enforcer.os, "kill", kill)
    made._end_all()
    said = "more than the limit of 4 processes: all were killed"
    assert known == [(said, [LIMIT + said])]


def test_files_of_memory_are_counted_once_and_charged_to_their_holder(monkeypatch: pytest.MonkeyPatch) -> None:
    descriptor = os.memfd_create("held")
    second = os.dup(descriptor)
    try:
        os.write(descriptor, bytes(8 << 20))
        held = limit_enforcer._memory_files(os.getpid())
        assert held[os.fstat(descriptor).st_ino] == 8 << 10
        ended: list[tuple[int, int]] = []
        monkeypatch.setattr(limit_enforcer.os, "kill", lambda pid, number: ended.append((pid, number)))
        monkeypatch.setattr(limit_enforcer, "_left_kib", lambda: 0)
        monkeypatch.setattr(limit_enforcer, "_memory_files", lambda _pid: {1: 8 << 10, 2: 99 << 20})
        monkeypatch.setattr(limit_enforcer, "_SHARED_EVERY", 1)
        enforcer = limit_enforcer.LimitEnforcer(processes=0, memory_mib=4096, log=lambda _line: None)
        enforcer._weigh([os.getpid()])
        assert ended == [(os.getpid(), 9)]
    finally:
        os.close(descriptor)
        os.close(second)


def test_memory_without_a_process_ends_all_processes_and_then_the_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sockets end with their processes, segments do not."""
    ended, logged, clock = list[int](), list[str](), [100.0]
    monkeypatch.setattr(limit_enforcer.os, "kill", lambda pid, _number: ended.append(pid))
    monkeypatch.setattr(limit_enforcer.os, "_exit", ended.append)
    monkeypatch.setattr(limit_enforcer.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(limit_enforcer, "_left_kib", lambda: 9000)
    monkeypatch.setattr(limit_enforcer, "_SHARED_EVERY", 1)
    enforcer = limit_enforcer.LimitEnforcer(processes=0, memory_mib=8, log=logged.append)
    enforcer._weigh([])
    assert ended == [-1]
    clock[0] += 0.5
    enforcer._weigh([])
    assert ended == [-1]
    clock[0] += 1.0
    enforcer._weigh([])
    assert ended == [-1, 137]
    assert logged[-1].endswith("segments and files that outlived all processes: the sandbox was ended")


def test_segments_and_unread_data_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    head = "       key      shmid perms                  size  cpid  lpid nattch   uid   gid  cuid  cgid      atime      dtime      ctime                   rss                  swap\n"
    row = "         0          1   600              10485760    39    39      0     0     0     0     0 1795402805 1795402805 1795402805              8388608                     0\n"
    monkeypatch.setattr(limit_enforcer, "_read", lambda _path: head + row + row)
    assert limit_enforcer._segments_kib() == 16 << 10
    monkeypatch.setattr(limit_enforcer, "_read", lambda _path: "")
    assert limit_enforcer._segments_kib() == 0
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.send(bytes(100_000))
        assert socket_memory.socket_kib() >= 97
