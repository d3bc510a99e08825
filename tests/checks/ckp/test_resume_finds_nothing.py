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
        (None, Severity.WARNING, "is not there; wanted 10: verl starts from the model and writes over it"),
        ("", Severity.ERROR, "says ''; wanted 10: verl dies when it reads it"),
        (
            "15",
            Severity.WARNING,
            "names step 15, which is not there; wanted 10: verl starts from the model and writes over it",
        ),
        (
            "20",
            Severity.ERROR,
            "names /c/global_step_20, which is not whole (data.pt is not there); wanted 10: verl dies when it loads it",
        ),
    ],
)
def test_what_verl_makes_of_its_tracker(tracker: str | None, severity: Severity, words: str) -> None:
    start = "/c/global_step_20 is there and /c/latest_checkpointed_iteration.txt "
    assert told(verl(), there(GOOD, CUT, tracker=tracker)) == [(severity, start + words)]


def test_verl_with_a_right_tracker_or_without_checkpoints() -> None:
    assert told(verl(), there(GOOD, CUT, tracker="10\n")) == []
    assert told(verl(), there()) == []


def test_our_own_trainer_looks_for_itself() -> None:
    for tracker in (None, "", "15", "20"):
        assert told(plan_of(), there(GOOD, CUT, tracker=tracker)) == []
    assert told(plan_of(), there(CUT)) == []  # the first save was cut short: nothing was ever whole
    refused = "/c had a complete checkpoint and has none now; wanted one to go on from: the start is refused"
    assert told(plan_of(), there(CUT, tracker="20")) == [(Severity.ERROR, refused)]


def test_a_named_checkpoint_must_be_whole() -> None:
    for mode in ("path", "resume_path"):
        made = plan_of(trainer__resume=mode, trainer__resume_from="x")
        assert told(made, there(GOOD, named=GOOD)) == []
        (finding,) = resume_finds_nothing(made, there(GOOD, named=CUT))
        assert finding.message == (
            "trainer.resume_from names /c/global_step_20: data.pt is not there; wanted /c/global_step_10"
        )
        assert finding.remedy is not None
        assert finding.remedy.settings == {"trainer.resume_from": "/c/global_step_10"}
        assert told(made, there(named=None)) == [
            (Severity.ERROR, "trainer.resume_from names no checkpoint; wanted a complete global_step_N")
        ]


def test_reproduces_a_tracker_that_is_gone() -> None:
    message = (
        "/ckpt/run/global_step_20 is there and /ckpt/run/latest_checkpointed_iteration.txt is not there; wanted 20: "
        "verl starts from the model and writes over it"
    )
    remedy = Remedy(
        kind=RemedyKind.RESET_STORE,
        summary="let it name the last complete one",
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
    assert (outcome.status, outcome.reason) == (Status.SKIP, "trainer.resume_mode is 'disable': nothing is looked for")
