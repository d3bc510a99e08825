"""Each job's eye on the other."""

from pathlib import Path

import pytest

from skyrl_train.contracts import verdict
from skyrl_train.contracts.job_files import READY, URL
from skyrl_train.launch import slurm
from skyrl_train.launch.directory import Ended, write_ended, write_jobs
from skyrl_train.launch.role import Role
from skyrl_train.launch.runtime_watch import (
    PATIENCE_S,
    SLURM_EVERY_S,
    RuntimeWatch,
    TrainerWatch,
    why_not_ready,
)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_waits_until_it_is_ready_or_never_will_be(tmp_path: Path) -> None:
    at = str(tmp_path)
    assert why_not_ready(at, False, 600) is None
    assert why_not_ready(at, True, 600) == "the runtime was not ready within 600 s (slurm.ready_timeout_s)"
    (tmp_path / URL).write_text("http://n:1\n")
    (tmp_path / READY).write_text("http://n:1\n")
    assert why_not_ready(at, True, 600) == ""
    write_ended(at, Role.RUNTIME, Ended(78, "the gate refused: POD001 …", 0))
    assert why_not_ready(at, False, 600) == "the runtime job ended before it was ready: the gate refused: POD001 …"


def test_a_runtime_may_be_late_but_not_for_long(tmp_path: Path) -> None:
    clock, answers = Clock(), [True, False, False, True, False, False]
    (tmp_path / verdict.FILE).touch()
    pulse = RuntimeWatch(str(tmp_path), "http://n:1", clock, lambda _: answers.pop(0))
    told = []
    for _ in range(6):
        clock.now += PATIENCE_S * 0.6
        told.append(pulse.lost())
    assert told == ["", "", f"the runtime at http://n:1 has not answered for {PATIENCE_S * 1.2:.0f} s", "", "", told[5]]
    assert told[5].startswith("the runtime at")


def test_a_runtime_that_the_gate_still_looks_at_is_the_gates(tmp_path: Path) -> None:
    clock = Clock()
    pulse = RuntimeWatch(str(tmp_path), "http://n:1", clock, lambda _: False)
    clock.now += PATIENCE_S * 4
    assert pulse.lost() == ""
    (tmp_path / verdict.FILE).touch()
    clock.now += PATIENCE_S * 1.5
    assert pulse.lost() == f"the runtime at http://n:1 has not answered for {PATIENCE_S * 1.5:.0f} s"


def test_a_runtime_that_told_its_end_is_believed_at_once(tmp_path: Path) -> None:
    pulse = RuntimeWatch(str(tmp_path), "http://n:1", Clock(), lambda _: True)
    write_ended(str(tmp_path), Role.RUNTIME, Ended(3, "", 0))
    assert pulse.lost() == "the runtime job ended: exit status 3"


def test_a_runtime_ends_with_its_trainer(tmp_path: Path) -> None:
    partner = TrainerWatch(str(tmp_path), Clock(), lambda _: slurm.JobState("RUNNING"))
    assert partner.lost() == ""
    write_ended(str(tmp_path), Role.TRAINER, Ended(0, "", 0))
    assert partner.lost() == "the trainer job ended: done"


def test_a_trainer_that_slurm_gave_up_names_its_own_end(tmp_path: Path) -> None:
    pulse = RuntimeWatch(str(tmp_path), "http://n:1", Clock(), lambda _: True)
    given_up = "the trainer job 8 ended without a report: JobState=NODE_FAIL Reason=NodeDown"
    write_ended(str(tmp_path), Role.TRAINER, Ended(1, given_up, 0))
    write_ended(str(tmp_path), Role.RUNTIME, Ended(0, given_up, 0))
    assert pulse.lost() == given_up


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ("NODE_FAIL", "the trainer job 8 ended without a report: JobState=NODE_FAIL Reason=None"),
        ("", "the trainer job 8 ended without a report, and Slurm no longer knows it"),
        ("PENDING", ""),
        ("RUNNING", ""),
    ],
)
def test_of_a_trainer_that_was_killed_slurm_tells(tmp_path: Path, state: str, told: str) -> None:
    clock = Clock()
    write_jobs(str(tmp_path), {Role.TRAINER: "8"})
    partner = TrainerWatch(str(tmp_path), clock, lambda _: slurm.JobState(state))
    assert partner.lost() == ""
    clock.now += SLURM_EVERY_S
    assert partner.lost() == told


def test_a_controller_that_does_not_answer_says_nothing_of_the_trainer(tmp_path: Path) -> None:
    def down(_: str) -> slurm.JobState:
        raise slurm.SlurmError("down")

    clock = Clock()
    write_jobs(str(tmp_path), {Role.TRAINER: "8"})
    partner = TrainerWatch(str(tmp_path), clock, down)
    clock.now += SLURM_EVERY_S
    assert partner.lost() == ""


def test_a_runtime_that_may_come_back_is_awaited_longer(tmp_path: Path) -> None:
    clock = Clock()
    (tmp_path / verdict.FILE).touch()
    pulse = RuntimeWatch(str(tmp_path), "http://n:1", clock, lambda _: False, patience_s=900.0)
    clock.now += PATIENCE_S * 4
    assert pulse.lost() == ""
    clock.now += 900.0
    assert pulse.lost().startswith("the runtime at http://n:1 has not answered for ")
