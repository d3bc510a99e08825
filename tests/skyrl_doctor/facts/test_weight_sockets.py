"""The sockets of verl's weight syncs."""

import socket
from pathlib import Path

import pytest

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.weight_sockets import WeightSocket, WeightSockets, parse_unix, weight_sockets
from skyrl_doctor.machine.base import Absent
from skyrl_doctor.machine.local import LocalMachine
from support import recorded

HEAD = "Num       RefCount Protocol Flags    Type St Inode Path\n"
ROW = "0000000000000000: 00000002 00000000 00010000 0001 01 24567 /run/a b.sock\n"
UNBOUND = "00000000474efd4b: 00000003 00000000 00000000 0001 03 545228\n"
FIRST = "/tmp/rl-colocate-zmq-01000000-replica-0-rank-0.sock"
SECOND = "/tmp/rl-colocate-zmq-01000000-replica-0-rank-1.sock"
LEFT = WeightSocket(path=FIRST, job="01000000", replica=0, rank=0, uid=1007, is_live=False)
LIVE = WeightSocket(path=SECOND, job="01000000", replica=0, rank=1, uid=1000, is_live=True)
TAKEN = recorded("weight_socket_left")


def test_reads_the_paths() -> None:
    assert parse_unix(HEAD) == frozenset()
    assert parse_unix(HEAD + ROW + UNBOUND) == frozenset({"/run/a b.sock"})


@pytest.mark.parametrize("text", ["", ROW, HEAD + "garbage\n", HEAD + ROW.replace(" 24567", " x")])
def test_refuses_another_table(text: str) -> None:
    with pytest.raises(ValueError, match="of Unix sockets"):
        parse_unix(text)


def test_reads_the_kernels_table(tmp_path: Path) -> None:
    path = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(path)
        assert path in parse_unix(LocalMachine({}).read("/proc/net/unix"))


def test_tells_a_file_in_use_from_one_that_was_left() -> None:
    assert weight_sockets(TAKEN) == WeightSockets(files=(LEFT, LIVE), removers=frozenset({0}))
    assert weight_sockets(recorded("clean_gpu_node")) == WeightSockets()


def test_leaves_out_a_file_that_was_removed_meanwhile() -> None:
    machine = TAKEN.but({f"lstat {FIRST}": {"absent": FIRST}})
    assert weight_sockets(machine) == WeightSockets(files=(LIVE,), removers=frozenset({0}))


def test_ignores_other_names() -> None:
    names = ["rl-colocate-zmq-GPU-2f1c9a44.sock", "rl-colocate-zmq-01000000-replica-0-rank-0.sock.old", "x"]
    assert weight_sockets(recorded("clean_gpu_node").but({"list /tmp": names})) == WeightSockets()


@pytest.mark.parametrize(
    ("key", "answer", "error"),
    [
        ("list /tmp", {"absent": "/tmp"}, Absent),
        ("read /proc/net/unix", {"absent": "/proc/net/unix"}, Absent),
        ("read /proc/net/unix", ["garbage"], CouldNotLook),
    ],
)
def test_an_unknown_table_is_no_answer(key: str, answer: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        weight_sockets(TAKEN.but({key: answer}))


def test_who_may_remove_a_file_of_another_user() -> None:
    sticky = WeightSockets(removers=frozenset({0, 5}))
    assert [sticky.is_kept_from(uid, LEFT) for uid in (0, 5, 1007, 1000)] == [False, False, False, True]
    assert not WeightSockets(removers=None).is_kept_from(1000, LEFT)
