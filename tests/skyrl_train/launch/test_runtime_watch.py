"""Each job's eye on the other."""

import dataclasses
from pathlib import Path

import pytest

from skyrl_train.contracts import verdict
from skyrl_train.contracts.job_files import READY, URL
from skyrl_train.launch import slurm
from skyrl_train.launch.directory import Ended, write_ended, write_jobs
from skyrl_train.launch.role import Role
from skyrl_train.launch.runtime_watch import (
    IDLE,
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


REQUEUED = slurm.JobState("PENDING", "BeginTime", restarts=1, eligible_at=1120.0)


def waiting(tmp_path: Path, clock: Clock, states: list[slurm.JobState]) -> tuple[list[str], list[str]]:
    """What a runtime's watch tells for each state of its trainer, half a minute apart, and the trainers that it starts soon."""
    started: list[str] = []
    write_jobs(str(tmp_path), {Role.RUNTIME: "7", Role.TRAINER: "8"})
    answers = iter(states)
    watch = TrainerWatch(str(tmp_path), clock, lambda _: next(answers), started.append, lambda: 1000.0)
    told = []
    for _ in states:
        clock.now += SLURM_EVERY_S
        told.append(watch.lost())
    return told, started


def test_slurms_delay_of_a_requeued_trainer_is_shortened(tmp_path: Path) -> None:
    states = [slurm.JobState("COMPLETING", restarts=1, eligible_at=1120.0), REQUEUED, slurm.JobState("RUNNING")]
    assert waiting(tmp_path, Clock(), states) == (["", "", ""], ["8"])


@pytest.mark.parametrize(
    "state",
    [
        dataclasses.replace(REQUEUED, restarts=0),  # its first turn, with --begin
        dataclasses.replace(REQUEUED, eligible_at=5000.0),  # a user postponed it
        dataclasses.replace(REQUEUED, eligible_at=900.0),
        dataclasses.replace(REQUEUED, eligible_at=0.0),
    ],
)
def test_another_wait_is_left_alone(state: slurm.JobState, tmp_path: Path) -> None:
    assert waiting(tmp_path, Clock(), [state]) == ([""], [])


def test_a_runtime_does_not_idle_while_its_requeued_trainer_waits_for_a_node(tmp_path: Path) -> None:
    queued = slurm.JobState("PENDING", "Resources", restarts=1, eligible_at=900.0)
    runs = slurm.JobState("RUNNING", restarts=1)
    assert waiting(tmp_path, Clock(), [queued] * 6)[0] == ["", "", "", "", "", IDLE]
    assert waiting(tmp_path, Clock(), [queued, queued, runs, *[queued] * 5])[0] == [""] * 8
    assert waiting(tmp_path, Clock(), [dataclasses.replace(queued, restarts=0)] * 9)[0] == [""] * 9


def test_a_slurm_that_refuses_the_earlier_start_changes_nothing(tmp_path: Path) -> None:
    def refuse(_: str) -> None:
        raise slurm.SlurmError("scontrol refused: Access/permission denied")

    clock = Clock()
    write_jobs(str(tmp_path), {Role.RUNTIME: "7", Role.TRAINER: "8"})
    watch = TrainerWatch(str(tmp_path), clock, lambda _: REQUEUED, refuse, lambda: 1000.0)
    clock.now += SLURM_EVERY_S
    assert watch.lost() == ""


def test_a_runtime_that_may_come_back_is_awaited_longer(tmp_path: Path) -> None:
    clock = Clock()
    (tmp_path / verdict.FILE).touch()
    pulse = RuntimeWatch(str(tmp_path), "http://n:1", clock, lambda _: False, patience_s=900.0)
    clock.now += PATIENCE_S * 4
    assert pulse.lost() == ""
    clock.now += 900.0
    assert pulse.lost().startswith("the runtime at http://n:1 has not answered for ")
