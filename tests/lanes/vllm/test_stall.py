"""The run that waits at 0/8, for real: vLLM refuses what is too long, the client keeps silent, and the watch names it.

Today's vLLM writes no reason into its log, only that it answered 400. Two watches look on: one of a job directory with
the job's configuration in it, which says why, and one without, which must not claim to know.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lanes.ports import held_ports

pytestmark = pytest.mark.vllm

HERE = Path(__file__).parent
CONFIG = HERE.parents[2] / "examples" / "prime-rl-2025" / "v4.toml"
START_S, NAMED_S = 900.0, 600.0
ENVIRON = {
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "TORCHDYNAMO_DISABLE": "1",
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("model")
    subprocess.run([sys.executable, str(HERE / "tiny.py"), str(directory)], check=True, timeout=600)
    return directory


@contextmanager
def running(command: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("ab") as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=subprocess.STDOUT, env={**os.environ, **ENVIRON}, start_new_session=True
        )
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        assert process.poll() is None, log.read_text(encoding="utf-8", errors="replace")[-3000:]
        try:
            with urllib.request.urlopen(url, timeout=30):
                return
        except OSError:
            time.sleep(0.5)
    pytest.fail(f"vLLM did not start within {START_S:.0f} s")


def findings(job: Path) -> list[dict[str, object]]:
    path = job / "events.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [one for one in map(json.loads, lines) if one["event"] == "finding"]


def job_directory(path: Path, log: Path, orchestrator: Path) -> Path:
    path.mkdir()
    (path / "vllm.log").symlink_to(log)
    (path / "orchestrator.log").symlink_to(orchestrator)
    return path


def test_the_bad_max_tokens_is_named_while_the_run_waits(tmp_path: Path, model: Path) -> None:
    with held_ports(1) as (port,):
        the_run_waits_and_is_named(port, tmp_path, model)


def the_run_waits_and_is_named(port: int, tmp_path: Path, model: Path) -> None:
    log, orchestrator = tmp_path / "vllm", tmp_path / "orchestrator"
    server = f"http://127.0.0.1:{port}"
    serve = ["serve", str(model), "--host", "127.0.0.1", "--port", str(port), "--max-model-len", "4096"]
    serve += ["--enforce-eager", "--served-model-name", "tiny"]
    orchestrator.touch()
    told = job_directory(tmp_path / "told", log, orchestrator)
    alone = job_directory(tmp_path / "alone", log, orchestrator)
    shutil.copy(CONFIG, told / "run.toml")
    watch = [sys.executable, "-m", "skyrl_doctor", "watch"]
    with running([sys.executable, "-m", "vllm.entrypoints.cli.main", *serve], log) as process:
        wait_for(f"{server}/health", process, log)
        with (
            running([*watch, str(told), "--vllm", server], tmp_path / "watched"),
            running([*watch, str(alone)], tmp_path / "watched"),
            running([sys.executable, str(HERE / "client.py"), server, "4000"], orchestrator),
        ):
            until = time.monotonic() + NAMED_S
            while time.monotonic() < until and not (ids(told) == ["AGT018", "CFG001"] and ids(alone) == ["AGT018"]):
                time.sleep(0.2)
    said = (tmp_path / "watched").read_text(encoding="utf-8")
    assert (ids(told), ids(alone)) == (["AGT018", "CFG001"], ["AGT018"]), said
    found = {str(one["id"]): one for one in findings(told)}
    assert found["CFG001"]["root"] is True
    assert "Cause: CFG001 max-tokens-exceed-context" in str(found["AGT018"]["message"])
    (stall,) = findings(alone)
    assert "refuses the requests, mostly because of CFG001" in str(stall["message"])
    for one in (stall, found["AGT018"]):
        assert "0/8" in str(one["evidence"])
    assert "max_tokens" not in orchestrator.read_text(encoding="utf-8")


def ids(job: Path) -> list[str]:
    return sorted(str(one["id"]) for one in findings(job))
