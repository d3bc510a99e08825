"""Where logs come from."""

import os
from pathlib import Path

from skyrl_doctor.logs.read.sources import find_sources


def test_a_directory_gives_its_logs_and_not_its_secrets(tmp_path: Path) -> None:
    for name in ("training_1.err", "runtime_1.out", "old/vllm.log.1.gz", "runtime_api_key.txt", "model.bin"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    found = find_sources([str(tmp_path), str(tmp_path / "training_1.err")])
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
    found = find_sources(asked)
    assert found.files == (str(tmp_path / "a.log"),)
    assert found.missing == (
        f"{asked[1]}: no such file or directory",
        f"{asked[2]}: no logs found; expected files named .log, .out, .err or .txt",
    )


def test_a_link_to_nothing_is_named_and_a_directory_that_cannot_be_read_too(tmp_path: Path) -> None:
    (tmp_path / "gone.log").symlink_to(tmp_path / "nowhere")
    assert find_sources([str(tmp_path / "gone.log")]).files == (str(tmp_path / "gone.log"),)
    closed = tmp_path / "closed"
    closed.mkdir()
    (tmp_path / "a.log").write_bytes(b"x")
    closed.chmod(0)
    found = find_sources([str(tmp_path)])
    closed.chmod(0o700)
    assert found.files == (str(tmp_path / "a.log"),)
    assert found.missing == (() if os.geteuid() == 0 else (f"{closed}: Permission denied",))


def test_rotated_logs_count(tmp_path: Path) -> None:
    for name in ("a.log-20260302.gz", "a.log.1.bz2", "a.logger"):
        (tmp_path / name).write_bytes(b"x")
    assert [Path(file).name for file in find_sources([str(tmp_path)]).files] == ["a.log-20260302.gz", "a.log.1.bz2"]
