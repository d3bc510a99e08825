"""The mount table, parsed: which file system holds a path."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.facts.mounts import Mount, Mounts, parse_mountinfo

TABLE = parse_mountinfo(
    "22 1 8:2 / / rw,relatime shared:1 - xfs /dev/sda2 rw\n"
    "50 22 0:50 / /home rw shared:30 - nfs4 filer:/export/home rw,vers=4.2\n"
    "51 22 0:51 / /home/my\\040data rw - ext4 /dev/sdb1 rw\n"
    "52 22 0:52 / /scratch rw master:1 propagate_from:2 - lustre mds@tcp:/s rw\n"
    "53 22 0:53 / /mnt rw - tmpfs tmpfs rw\n"
    "54 22 0:54 / /mnt rw - fuse.sshfs user@host: rw\n"
)


@pytest.mark.parametrize(
    ("path", "kind", "network"),
    [
        ("/", "xfs", False),
        ("/usr/lib", "xfs", False),
        ("/home", "nfs4", True),
        ("/home/ana/.triton", "nfs4", True),
        ("/homework", "xfs", False),
        ("/home/my data/x", "ext4", False),
        ("/scratch/job", "lustre", True),
        ("/mnt/x", "fuse.sshfs", True),
    ],
)
def test_the_longest_and_latest_mount_holds_a_path(path: str, kind: str, network: bool) -> None:
    mount = TABLE.of(path)
    assert mount is not None
    assert (mount.kind, mount.is_network) == (kind, network)


def test_no_mount_holds_a_path_of_an_empty_table() -> None:
    assert Mounts(()).of("/home") is None


def test_reads_the_kernels_own_table() -> None:
    text = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    found = parse_mountinfo(text)
    assert len(found.mounts) == len(text.splitlines())
    assert found.of("/proc/self") is not None


WORDS = st.sampled_from(
    ["22", "8:2", "/", "/home", "\\040", "rw,relatime", "shared:1", "-", "xfs", "nfs4", "", "\\999"]
)
LINES = st.lists(st.one_of(st.text(), st.lists(WORDS).map(" ".join))).map("\n".join)


@given(LINES, st.text())
def test_no_text_crashes_it_and_none_makes_a_mount_of_rubbish(text: str, path: str) -> None:
    found = parse_mountinfo(text)
    assert all(mount.kind for mount in found.mounts)
    assert len(found.mounts) <= text.count(" - ")
    found.of(path)


@given(st.text(min_size=1).filter(lambda text: " - " not in text))
def test_what_is_no_line_of_the_table_is_no_mount(text: str) -> None:
    assert parse_mountinfo(text) == Mounts(())


def test_a_plain_disk_is_no_network() -> None:
    assert not Mount("/", "ext4", "/dev/sda1").is_network
    assert not Mount("/x", "fuse.fuse-overlayfs", "x").is_network
