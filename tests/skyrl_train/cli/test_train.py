"""skyrl-train train, up to where the driver would start."""

import re
import socket
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from skyrl_doctor.logs.match.errors import ERROR, is_error
from skyrl_train.cli.app import dispatch
from skyrl_train.config.load import parse, resolved
from skyrl_train.contracts.verdict import FILE, Verdict, config_hash, write
from skyrl_train.launch import commands, directory

TOML = '[model]\npath = "m"\n[data]\ntrain_files = ["a.jsonl"]\n'


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A job directory as a launch leaves one."""
    config = parse(TOML)
    (tmp_path / directory.CONFIG).write_text(TOML)
    (tmp_path / directory.RESOLVED).write_text(resolved(config))
    commands.write(str(tmp_path), commands.default("/no/such/python", config, str(tmp_path), None))
    return tmp_path


def verdict(job: Path, *, node: str, text: str = TOML, age_s: float = 0.0) -> None:
    now = time.time()
    write(
        str(job),
        Verdict(
            config_sha256=config_hash([text.encode()]),
            node=node,
            role="gpu",
            gpus=(),
            versions={},
            outcomes={},
            unknown_allowed=False,
            written_at=now - age_s,
            expires_at=now + 3600 - age_s,
        ),
    )


def refused(job: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert dispatch(["train", str(job)]) == 78
    said = capsys.readouterr().err
    assert said.startswith("skyrl-train train: refused: ")
    return said.removeprefix("skyrl-train train: refused: ").strip()


def test_without_a_verdict_nothing_starts(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    why = refused(job, capsys)
    assert why == f"there is no {FILE} in the job directory: the gate has not passed (skyrl-doctor gate)"


def test_a_verdict_of_another_node_is_none(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    verdict(job, node="elsewhere")
    assert refused(job, capsys) == f"{FILE} is for node elsewhere, this is {socket.gethostname()}"


def test_a_verdict_of_another_configuration_is_none(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    verdict(job, node=socket.gethostname(), text="[model]\n")
    assert f"{FILE} is for another configuration" in refused(job, capsys)


def test_an_old_verdict_is_none(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    verdict(job, node=socket.gethostname(), age_s=4000)
    assert "expired" in refused(job, capsys)


def test_a_verdict_that_cannot_be_read_is_none(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (job / FILE).mkdir()
    assert refused(job, capsys) == f"{FILE} cannot be read: Is a directory"


def test_what_is_no_directory_of_a_launch_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By the mark of a cause: diagnose finds it in the job's log."""
    assert dispatch(["train", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"skyrl-train train: error: {tmp_path} is not the job directory of a launch")
    assert re.search(ERROR, said)
    assert is_error(said)


@pytest.mark.skipif(find_spec("verl") is not None, reason="it would train")
def test_without_the_gate_it_says_so_and_wants_its_packages(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["train", str(job), "--no-gate"]) == 2
    said = capsys.readouterr().err
    assert "--no-gate: training without a verdict of the gate, although there is no verdict.json" in said
    cause = f"{sys.executable} has no ray, torch, transfer_queue, verl, vllm, which the trainer needs (extra train); run {sys.executable} -m pip install "
    assert f"skyrl-train train: error: {cause}" in said
