"""A log that stops in the middle of a run."""

from pathlib import Path

import pytest

from skyrl_doctor.cli.app import dispatch

BAR = "Training Progress:   1%|          | {done}/{total} [10:00<?, 10s/it]\n"
STEP = "step:{step} - actor/loss:0.5 - timing_s/step:10.0\n"


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (STEP.format(step=18) + BAR.format(done=18, total=2025) + STEP.format(step=19), "step 19 of 2025"),
        (STEP.format(step=18) + STEP.format(step=19), "step 19"),
        ("Step 7 | 22.84s | Loss 0.0010 | Entropy 0.3\n", "step 7"),
    ],
)
def test_a_log_that_stops_between_steps_says_where(
    log: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "slurm-81230.out"
    file.write_text(log, encoding="utf-8")
    assert dispatch(["diagnose", str(file)]) == 0
    shown = capsys.readouterr().out
    assert f"The log stops at {expected} without an error: {file}:" in shown
    assert "sacct -j 81230 " in shown


@pytest.mark.parametrize(
    "log", [BAR.format(done=19, total=20) + STEP.format(step=20), "step: one\n", "20/2025 [rows read]\n"]
)
def test_a_run_at_its_last_step_or_without_steps_has_not_stopped(
    log: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.log"
    file.write_text(log, encoding="utf-8")
    assert dispatch(["diagnose", str(file)]) == 0
    assert "stops at" not in capsys.readouterr().out
