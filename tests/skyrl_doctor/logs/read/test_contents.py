"""Logs as bytes: plain, packed, pipes, and what is none."""

import bz2
import gzip
import importlib.util
import io
import lzma
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from skyrl_doctor.logs.diagnose import diagnose
from skyrl_doctor.logs.read.contents import open_blocks, read_chunks

TEXT = b"one\ntwo\n" * 1000
SLOTS = b"No available worker slots\n"


def read(path: Path) -> bytes:
    return b"".join(read_chunks(str(path), timeout_s=0.05))


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress, bytes])
def test_packed_files_are_unpacked_whatever_their_name(tmp_path: Path, pack: type[bytes]) -> None:
    (tmp_path / "a.log").write_bytes(pack(TEXT))
    assert read(tmp_path / "a.log") == TEXT


@pytest.mark.parametrize("pack", [gzip.compress, bytes])
def test_blocks_are_the_same_packed_or_not(tmp_path: Path, pack: type[bytes]) -> None:
    text = b"".join(b"%d\n" % number for number in range(400_000)) + b"x" * 3_000_000 + b"\nend"
    (tmp_path / "plain.log").write_bytes(text)
    (tmp_path / "a.log").write_bytes(pack(text))
    with open_blocks(str(tmp_path / "a.log")) as found, open_blocks(str(tmp_path / "plain.log")) as plain:
        assert [later() for later in found] == [later() for later in plain]


def test_zst_is_unpacked_or_the_reason_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.log.zst").write_bytes(b"\x28\xb5\x2f\xfd")
    if importlib.util.find_spec("zstandard") is None and sys.version_info < (3, 14):
        with pytest.raises(
            OSError,
            match=r"reading \.zst needs Python 3\.14 or the package zstandard; or decompress the file with zstd -d",
        ):
            read(tmp_path / "a.log.zst")
        return
    zstandard = pytest.importorskip("zstandard")
    frame = zstandard.ZstdCompressor().compress(TEXT)
    (tmp_path / "a.log.zst").write_bytes(frame + frame)
    assert read(tmp_path / "a.log.zst") == TEXT + TEXT


def test_a_packed_file_that_is_cut_off_or_damaged(tmp_path: Path) -> None:
    packed = gzip.compress(bytes(range(256)) * 4000)
    (tmp_path / "cut.log.gz").write_bytes(packed[:-20])
    with pytest.raises(OSError, match="the compressed file is cut off"):
        read(tmp_path / "cut.log.gz")
    (tmp_path / "bad.log.gz").write_bytes(packed[:20] + b"no gzip at all" * 20)
    with pytest.raises(OSError, match="damaged"):
        read(tmp_path / "bad.log.gz")


def test_what_was_read_before_the_damage_counts(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(SLOTS + os.urandom(3_000_000)))
    packed[2_500_000:2_500_100] = bytes(100)
    (tmp_path / "a.log.gz").write_bytes(packed)
    found = diagnose([str(tmp_path / "a.log.gz")])
    assert found.diagnosis.root is not None
    assert (found.diagnosis.root.failure.name, len(found.unread)) == ("RUN005", 1)


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress])
def test_what_was_read_before_the_cut_counts(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    file = tmp_path / "a.log.packed"
    file.write_bytes(pack(SLOTS + os.urandom(3_000_000))[:-100])
    found = diagnose([str(file)])
    assert found.diagnosis.root is not None
    assert found.diagnosis.root.failure.name == "RUN005"
    assert found.unread == (f"{file}: the compressed file is cut off; the part before that was read",)


def test_standard_input_may_be_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(TEXT))))
    assert b"".join(read_chunks("-")) == TEXT


def test_a_pipe_without_a_writer_is_empty_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.log")
    assert read(tmp_path / "a.log") == b""


def test_a_pipe_with_a_writer_is_read_to_its_end(tmp_path: Path) -> None:
    pipe = tmp_path / "a.log"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(pipe, os.O_WRONLY)

    def write() -> None:
        os.write(writer, TEXT)
        os.close(writer)

    thread = threading.Thread(target=write)
    thread.start()
    with open_blocks(str(pipe)) as found:  # to open a pipe and close it again would be the end of its writer
        text = b"".join(later().data for later in found)
    thread.join()
    os.close(reader)
    assert text == TEXT


def test_a_pipe_whose_writer_sleeps_is_given_up(tmp_path: Path) -> None:
    pipe = tmp_path / "a.log"
    os.mkfifo(pipe)
    reader, writer = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), os.open(pipe, os.O_WRONLY)
    with pytest.raises(OSError, match="sent no data"):
        read(pipe)
    os.close(writer)
    os.close(reader)


def test_what_is_no_file_is_named() -> None:
    assert diagnose(["/dev/zero"]).unread == ("/dev/zero: not a file or pipe",)


def test_a_file_that_vanished_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.log").symlink_to(tmp_path / "nowhere")
    assert diagnose([str(tmp_path / "a.log")]).unread == (f"{tmp_path}/a.log: No such file or directory",)
