"""CKP001."""

import pytest

from checks.ckp.resume_finds_nothing import resume_finds_nothing
from plans import MIG20, example, plan
from skyrl_doctor.core.model import Finding, Location, Outcome, Remedy, RemedyKind, Severity, Status
from skyrl_doctor.facts.checkpoints import Checkpoint, Checkpoints
from skyrl_doctor.plan.model import Plan
from support import judge, plan_of

VERL = "python -m verl.trainer.main_ppo trainer.default_local_dir=/ckpt/run\n"
GOOD, CUT = (
    Checkpoint(step=10, path="/c/global_step_10", worlds=(1,)),
    Checkpoint(step=20, path="/c/global_step_20", faults=("data.pt is not there",)),
)


def there(*found: Checkpoint, tracker: str | None = None, named: Checkpoint | None = None) -> Checkpoints:
    return Checkpoints(root="/c", tracker=tracker, found=found, named=named, free=0)


def verl(**values: str) -> Plan:
    return Plan(("run.sh",), "verl", plan_of(**values).values)


def told(made: Plan, seen: Checkpoints) -> list[tuple[Severity, str]]:
    return [(one.severity, one.message) for one in resume_finds_nothing(made, seen)]


@pytest.mark.parametrize(
    ("tracker", "severity", "words"),
    [
        (None, Severity.WARNING, "is missing, so verl starts from the model and overwrites it; expected 10"),
        ("", Severity.ERROR, "contains '', so verl fails to read it; expected 10"),
        (
            "15",
            Severity.WARNING,
            "names step 15, which does not exist, so verl starts from the model and overwrites it; expected 10",
        ),
        (
            "20",
            Severity.ERROR,
            "names /c/global_step_20, which is incomplete (data.pt is not there), so verl fails to load it; expected 10",
        ),
    ],
)
def test_what_verl_makes_of_its_tracker(tracker: str | None, severity: Severity, words: str) -> None:
    start = "/c/global_step_20 exists, but /c/latest_checkpointed_iteration.txt "
    assert told(verl(), there(GOOD, CUT, tracker=tracker)) == [(severity, start + words)]


def test_verl_with_a_right_tracker_or_without_checkpoints() -> None:
    assert told(verl(), there(GOOD, CUT, tracker="10\n")) == []
    assert told(verl(), there()) == []


def test_our_own_trainer_looks_for_itself() -> None:
    for tracker in (None, "", "15", "20"):
        assert told(plan_of(), there(GOOD, CUT, tracker=tracker)) == []
    assert told(plan_of(), there(CUT)) == []  # the first save was cut short: nothing was ever whole
    refused = "/c had a complete checkpoint but has none now, so the start is refused; expected one to resume from"
    assert told(plan_of(), there(CUT, tracker="20")) == [(Severity.ERROR, refused)]


@pytest.mark.parametrize(
    ("made", "key"),
    [
        (plan_of(trainer__resume="path", trainer__resume_from="x"), "trainer.resume_from"),
        (
            plan(f"{VERL.strip()} trainer.resume_mode=resume_path trainer.resume_from_path=x\n", "run.sh"),
            "trainer.resume_from_path",
        ),
    ],
)
def test_a_named_checkpoint_must_be_whole(made: Plan, key: str) -> None:
    assert told(made, there(GOOD, named=GOOD)) == []
    (finding,) = resume_finds_nothing(made, there(GOOD, named=CUT))
    assert finding.message == f"{key} names /c/global_step_20: data.pt is not there; expected /c/global_step_10"
    assert finding.remedy is not None
    assert finding.remedy.settings == {key: "/c/global_step_10"}
    assert told(made, there(named=None)) == [
        (Severity.ERROR, f"{key} names no checkpoint; expected a complete global_step_N")
    ]


def test_reproduces_a_tracker_that_is_gone() -> None:
    message = "/ckpt/run/global_step_20 exists, but /ckpt/run/latest_checkpointed_iteration.txt is missing, so verl starts from the model and overwrites it; expected 20"
    remedy = Remedy(
        kind=RemedyKind.RESET_STORE,
        summary="write the last complete step into the tracker",
        commands=("printf 20 > '/ckpt/run/latest_checkpointed_iteration.txt'",),
    )
    assert judge("CKP001", "tracker_gone", plan=plan(VERL, "run.sh")) == Outcome(
        id="CKP001",
        slug="resume-finds-nothing",
        status=Status.FAIL,
        findings=(
            Finding(
                message=message,
                location=Location("run.sh", None, "trainer.resume_mode"),
                remedy=remedy,
                severity=Severity.WARNING,
            ),
        ),
    )


def test_reproduces_a_save_that_was_cut_short() -> None:
    outcome = judge("CKP001", "save_cut_short", plan=plan(VERL, "run.sh"))
    assert [one.severity for one in outcome.findings] == [Severity.ERROR]


def test_silent_on_the_clean_machine() -> None:
    assert judge("CKP001", "clean_gpu_node", plan=example(MIG20)).status is Status.PASS


def test_a_run_that_starts_anew_is_not_judged() -> None:
    outcome = judge("CKP001", "tracker_gone", plan=plan(VERL.strip() + " trainer.resume_mode=disable\n", "run.sh"))
    assert (outcome.status, outcome.reason) == (
        Status.SKIP,
        "trainer.resume_mode is 'disable', so no checkpoint is loaded",
    )
