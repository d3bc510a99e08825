"""What a container engine says of a container that ended: a sandbox where the lines above are of one."""

from pathlib import Path

import pytest

from skyrl_doctor.logs.diagnose import diagnose

ROLLOUT = "2026-03-02 09:14:33,120 - INFO - rollout 12: sandbox sb-12 started\n"
BENCH = "vllm bench serve: traffic request rate 0.5\n"
ENDED = [
    "Error: can only create exec sessions on running containers: container state improper",
    "OCI runtime exec failed: exec failed: cannot exec in a stopped container",
    "Error response from daemon: container 7f1c is not running",
]


def named(log: Path, text: str) -> str | None:
    log.write_text(text, encoding="utf-8")
    root = diagnose([str(log)]).diagnosis.root
    return root and root.failure.name


@pytest.mark.parametrize("message", ENDED)
def test_a_sandbox_that_ended_is_named(message: str, tmp_path: Path) -> None:
    assert named(tmp_path / "agent.log", f"{ROLLOUT}{message}\n") == "RUN011"


@pytest.mark.parametrize("message", ENDED)
def test_another_container_that_ended_is_not(message: str, tmp_path: Path) -> None:
    assert named(tmp_path / "bench.log", f"{BENCH}{message}\n") is None
