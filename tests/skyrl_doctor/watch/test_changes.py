"""The changes that an alert advises, as settings of the job's own configuration."""

import dataclasses
from collections.abc import Mapping

import pytest

from plans import MIG20, example, plan
from skyrl_doctor.core.model import RemedyKind
from skyrl_doctor.machine.recorded import RecordedMachine
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.watch.changes import new_value, read_plan, with_settings
from skyrl_doctor.watch.finding import Advice, Alert, Change, alert
from skyrl_doctor.watch.observations import Checkpoint, Left, Sandboxes
from skyrl_doctor.watch.rules import checkpoints, sandboxes, wall
from skyrl_doctor.watch.rules.conditions import CONDITIONS
from support import plan_of
from watching import play

VERL = plan("python -m verl.trainer.main_ppo actor_rollout_ref.actor.optim.lr=3e-6\n", "run.sh")
OURS = plan_of(actor__lr=3e-6, trainer__epochs=2, slurm__trainer_time_limit="6:00:00", agent__max_parallel=8)
THIRD = Change("actor.lr", times=1 / 3)


def settings(changes: tuple[Change, ...], made: Plan) -> Mapping[str, str]:
    advice = Advice(kind=RemedyKind.FIX_CONFIG, summary="x", changes=changes)
    remedy = with_settings(alert(1.0, "TRN005", "x", advice=advice), made).finding.remedy
    assert remedy is not None
    return remedy.settings


@pytest.mark.parametrize(
    ("change", "value"),
    [
        (THIRD, "1e-06"),
        (Change("trainer.epochs", plus=1), "3"),
        (Change("trainer.epochs", times=0.5), "1"),
        (Change("slurm.runtime_time_limit", like="slurm.trainer_time_limit"), "6:00:00"),
        (Change("rollout.keep_stop", "true"), "true"),
        (Change("agent.max_parallel", "8"), None),  # it is so already
        (Change("actor.grad_clip", times=0.5), None),  # the present value is unknown
        (Change("slurm.runtime_time_limit", like="slurm.no"), None),
    ],
)
def test_a_new_value_is_computed_from_the_present_one(change: Change, value: str | None) -> None:
    assert new_value(change, OURS) == value


def test_a_value_that_cannot_be_resolved_is_left_alone() -> None:
    unknown = dataclasses.replace(OURS.values["actor.lr"], unknown="a command substitution")
    assert new_value(THIRD, dataclasses.replace(OURS, values={"actor.lr": unknown})) is None


@pytest.mark.parametrize(
    ("made", "named"),
    [
        (OURS, {"actor.lr": "1e-06"}),
        (VERL, {"actor_rollout_ref.actor.optim.lr": "1e-06", "trainer.resume_mode": "resume_path"}),
        (example("examples/prime-rl-2025/v5.toml"), {}),
        (Plan(), {}),
    ],
)
def test_settings_are_named_in_the_dialect_of_the_watched_run(made: Plan, named: dict[str, str]) -> None:
    changes = (THIRD, Change("trainer.resume", "path")) if made is not OURS else (THIRD,)
    assert settings(changes, made) == named


def test_numbers_that_diverge_ask_for_a_third_of_the_learning_rate() -> None:
    """The remedy was `actor.optim.lr = "a third of it"`: no key of ours or of verl, and no value."""
    (condition,) = (one for one in CONDITIONS if one.key == "TRN005.metrics")
    assert condition.advice is not None
    assert condition.advice.changes == (THIRD,)
    assert settings(condition.advice.changes, OURS) == {"actor.lr": "1e-06"}


def changes_of(found: object) -> tuple[Change, ...]:
    assert isinstance(found, Alert)
    return found.changes


def test_a_late_tracker_advises_the_path_of_the_checkpoint() -> None:
    late = [Checkpoint(at=float(t), step=4, root="/c", tracked=2) for t in (0, 1000)]
    (found,) = play(checkpoints.RULE, late)
    wanted = {"trainer.resume_mode": "resume_path", "trainer.resume_from_path": "/c/global_step_4"}
    assert settings(changes_of(found), VERL) == wanted


def test_a_full_runtime_advises_as_many_rollouts_as_it_has_slots() -> None:
    busy = Sandboxes(at=0.0, url="u", status=200, slots=7.0, free=0.0, pending=3.0)
    (found,) = play(sandboxes.RULE, [dataclasses.replace(busy, at=15.0 * n) for n in range(5)])
    assert settings(changes_of(found), OURS) == {"agent.max_parallel": "7"}


def test_a_short_runtime_job_advises_the_trainers_time_limit() -> None:
    both = [Left(at=0.0, job="trainer", seconds=7200.0), Left(at=5.0, job="runtime", seconds=60.0)]
    (found,) = play(wall.RULE, both)
    assert settings(changes_of(found), OURS) == {"slurm.runtime_time_limit": "6:00:00"}


def test_a_configuration_that_cannot_be_read_gives_no_settings() -> None:
    machine = RecordedMachine({"environ": {}, "read a.toml": "= 3", f"read {MIG20}": '[model]\npath = "m"\n'})
    assert read_plan(machine, ("a.toml",)) == read_plan(machine, ("none.toml",)) == Plan()
    assert read_plan(machine, (MIG20,)).text("model.path") == "m"
