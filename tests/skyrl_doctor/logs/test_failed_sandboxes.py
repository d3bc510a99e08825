"""Logs of our own runtime: one in which a sandbox failed is never clean, whatever its cause says."""

import logging
from pathlib import Path

import pytest

from skyrl_doctor.logs.diagnose import diagnose
from skyrl_train.sandbox.runtime.events import Events
from skyrl_train.sandbox.runtime.log_line import log_line

CAUSES = {
    "hybrid": ("Podman: crun: cgroups in hybrid mode not supported, drop all controllers from cgroupv2", "POD008"),
    "plain": ("not started in 3 attempts; container created", "RUN011"),
    "one word": ("stopped", "RUN011"),
    "advice": ("the server may be out of memory, try a smaller image", "RUN011"),
    "retried": ("not ready within 60 s (starting); no answer, retrying in 2 s", "RUN011"),
    "tolerated": ("the container ended; its log: continuing without the cache", "RUN011"),
    "quotes": ('the container printed "a failure may come" and ended', "RUN011"),
    "long": ("not ready: " + "x " * 75 + "could be slow", "RUN011"),
    "pull": (
        (
            'podman pull: pinging container registry localhost: Get "https://localhost/v2/": dial tcp 127.0.0.1:443: connect: '
            "connection refused, retrying in 1s"
        ),
        "IMG009",
    ),
}


@pytest.mark.parametrize("level", ["INFO", "WARNING"])
@pytest.mark.parametrize(("cause", "name"), CAUSES.values(), ids=CAUSES)
def test_a_failed_sandbox_is_the_cause(cause: str, name: str, level: str, tmp_path: Path) -> None:
    failed = log_line("failed", {"runtime_id": "skyrl-3adf10", "session_id": "s1", "cause": cause})
    lines = (
        "INFO ready for clients url=http://127.0.0.1:8011",
        f"{level} {failed}",
        "INFO removed",
        "INFO drained ",
        "INFO Shutting down",
    )
    log = tmp_path / "serve.log"
    log.write_text("".join(f"2026-11-27 16:34:04,487 {line}\n" for line in lines))
    root = diagnose([str(log)]).diagnosis.root
    assert root is not None
    assert (root.failure.name, root.line.number) == (name, 2)


def test_a_failure_is_a_warning_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "skyrl_train.runtime")
    events = Events(lambda: 0.0)
    for event in ("start", "failed", "image failed", "removed"):
        events.add(event, cause="x")
    assert [(one.levelname, one.getMessage()) for one in caplog.records] == [
        ("INFO", "start cause=x"),
        ("WARNING", "failed cause=x"),
        ("WARNING", "image failed cause=x"),
        ("INFO", "removed cause=x"),
    ]
