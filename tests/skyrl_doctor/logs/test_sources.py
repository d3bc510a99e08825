"""Where logs come from."""

import gzip
import io
import lzma
from pathlib import Path

import pytest

from skyrl_doctor.logs.sources import chunks, collect

TEXT = b"one\ntwo\n" * 1000


def test_a_directory_gives_its_logs_and_not_its_secrets(tmp_path: Path) -> None:
    for name in ("training_1.err", "runtime_1.out", "old/vllm.log.1.gz", "runtime_api_key.txt", "model.bin"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    found = collect([str(tmp_path), str(tmp_path / "training_1.err")])
    assert [file.removeprefix(f"{tmp_path}/") for file in found.files] == [
        "old/vllm.log.1.gz",
        "runtime_1.out",
        "training_1.err",
    ]
    assert found.missing == ()


def test_globs_and_what_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(b"x")
    (tmp_path / "empty").mkdir()
    asked = [str(tmp_path / "*.log"), str(tmp_path / "none.log"), str(tmp_path / "empty")]
    found = collect(asked)
    assert found.files == (str(tmp_path / "a.log"),)
    assert found.missing == (
        f"{asked[1]}: no such file",
        f"{asked[2]}: no log in it; wanted files named .log, .out, .err or .txt",
    )


def test_packed_files_are_unpacked(tmp_path: Path) -> None:
    (tmp_path / "a.log.gz").write_bytes(gzip.compress(TEXT))
    (tmp_path / "a.log.xz").write_bytes(lzma.compress(TEXT))
    assert b"".join(chunks(str(tmp_path / "a.log.gz"))) == TEXT
    assert b"".join(chunks(str(tmp_path / "a.log.xz"))) == TEXT


def test_a_packed_file_that_is_cut_off_or_damaged(tmp_path: Path) -> None:
    packed = gzip.compress(bytes(range(256)) * 4000)
    (tmp_path / "cut.log.gz").write_bytes(packed[:-20])
    assert b"".join(chunks(str(tmp_path / "cut.log.gz"))).startswith(bytes(range(256)))
    (tmp_path / "bad.log.gz").write_bytes(b"no gzip at all")
    with pytest.raises(OSError, match="gzip"):
        list(chunks(str(tmp_path / "bad.log.gz")))


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXT)))
    assert b"".join(chunks("-")) == TEXT
