"""The messages of the system below the training stack, and of trainers: each of them alone names its failure, or none where a run goes on."""

from pathlib import Path

import pytest

from skyrl_doctor.logs.diagnose import diagnose

MESSAGES = [
    tuple(line.split(" ", 1))
    for name in ("system_messages.txt", "training_messages.txt")
    for line in (Path(__file__).parents[2] / "logs" / name).read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
STEP = "(TaskRunner pid=81234) step:{} - actor/pg_loss:0.02 - critic/score/mean:0.31 - timing_s/step:84.2\n"
BEFORE = "".join(STEP.format(number) for number in (11, 12))
AFTER = "".join(STEP.format(number) for number in range(13, 31))


def said(log: Path, text: str) -> str:
    log.write_text(text, encoding="utf-8")
    found = diagnose([str(log)]).diagnosis
    if found.root is not None:
        return found.root.failure.name
    return "unknown" if found.unknown else "healthy"


@pytest.mark.parametrize(("name", "message"), [one for one in MESSAGES if one[0] != "healthy"])
def test_a_message_names_its_failure(name: str, message: str, tmp_path: Path) -> None:
    assert said(tmp_path / "train.log", f"{BEFORE}{message}\n") == name


@pytest.mark.parametrize(("name", "message"), [one for one in MESSAGES if one[0] != "healthy"])
def test_a_message_names_its_failure_in_what_ray_and_slurm_print(name: str, message: str, tmp_path: Path) -> None:
    end = "srun: error: gpu07: task 0: Exited with exit code 1\n"
    assert said(tmp_path / "train.log", f"{BEFORE}(WorkerDict pid=81555, ip=10.4.0.17) {message}\n{end}") == name


@pytest.mark.parametrize("message", [message for name, message in MESSAGES if name == "healthy"])
def test_a_run_that_goes_on_after_a_message_is_healthy(message: str, tmp_path: Path) -> None:
    assert said(tmp_path / "train.log", f"{BEFORE}{message}\n{AFTER}") == "healthy"
