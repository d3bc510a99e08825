"""CFG007."""

import pytest

from checks.cfg.data_files_missing import data_files_missing
from plans import plan
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Location, Outcome, Remedy, RemedyKind, Role, Severity, Status
from skyrl_doctor.facts.data_files import DataFile, DataFiles
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.facts.training_rows import TrainingRows
from support import judge, plan_of

CWD = "/home/ada/run"
WITH_TASKS = plan_of(data__train_files=["/data/train.parquet"])
GOOD = DataFile(key="data.train_files", path="/data/train.parquet")
GONE = DataFile(key="data.val_files", path="val.parquet", wrong="does not exist")
HIDDEN = DataFile(key="data.val_files", path="/secret/val.parquet", unsure="/secret/val.parquet: Permission denied")


def told(*files: DataFile, role: Role = Role.LOGIN, asked: bool = True) -> list[tuple[str, Severity]]:
    roles = Roles(frozenset({role}), asked)
    return [
        (found.message, found.severity) for found in data_files_missing(WITH_TASKS, DataFiles(files, CWD), None, roles)
    ]


def test_what_is_missing_is_an_error_where_the_run_begins_or_takes_place() -> None:
    message = (
        "data.val_files names val.parquet (relative to /home/ada/run), which does not exist; expected a file of tasks"
    )
    assert told(GOOD) == []
    assert told(GOOD, GONE) == [(message, Severity.ERROR)]
    assert told(GONE, role=Role.GPU, asked=False) == [(message, Severity.ERROR)]
    assert told(GONE, asked=False) == [(message, Severity.WARNING)]


def test_what_nobody_could_look_at_is_no_pass_and_hides_no_finding() -> None:
    with pytest.raises(CouldNotLook, match="Permission denied"):
        told(GOOD, HIDDEN)
    findings = data_files_missing(WITH_TASKS, DataFiles((HIDDEN, GONE)), None, Roles(frozenset({Role.GPU}), True))
    assert next(findings).severity is Severity.ERROR
    with pytest.raises(CouldNotLook):
        next(findings)


@pytest.mark.parametrize(
    ("rows", "messages"),
    [
        (8, []),
        (7, ["data.train_batch_size is 8, but the training files hold only 7 tasks; expected at least 8"]),
        (0, ["data.train_batch_size is 8, but the training files hold only 0 tasks; expected at least 8"]),
    ],
)
def test_a_step_needs_as_many_tasks_as_its_batch(rows: int, messages: list[str]) -> None:
    counted = TrainingRows(files=("/data/train.parquet",), count=rows, without=rows)
    login = Roles(frozenset({Role.LOGIN}), asked=True)
    found = data_files_missing(
        plan_of(data__train_batch_size=8, data__train_files=["/data/train.parquet"]),
        DataFiles((GOOD,)),
        counted,
        login,
    )
    assert [finding.message for finding in found] == messages


def test_a_note_says_that_the_tasks_could_not_be_counted() -> None:
    made = plan_of(data__train_batch_size=8, data__train_files=["/data/train.parquet"])
    unread = TrainingRows(unread="pyarrow is not installed, so /data/train.parquet cannot be read; run pip")
    login = Roles(frozenset({Role.LOGIN}), asked=True)
    assert list(data_files_missing(made, DataFiles((GOOD,)), unread, login)) == [
        Finding(
            message="the training tasks could not be counted, so data.train_batch_size = 8 was not compared with them: "
            "pyarrow is not installed, so /data/train.parquet cannot be read; run pip",
            location=Location("plan.toml", None, "data.train_files"),
            remedy=Remedy(kind=RemedyKind.FIX_CONFIG, summary="no action needed if the files hold at least one batch"),
            severity=Severity.INFO,
        )
    ]


def test_reproduces_on_a_recording() -> None:
    plan = plan_of(data__train_files=["/data/train.parquet", "/data/gone.parquet"])
    assert judge("CFG007", "agent_stack_broken", plan=plan) == Outcome(
        id="CFG007",
        slug="data-files-missing",
        status=Status.FAIL,
        findings=(
            Finding(
                message="data.train_files names /data/gone.parquet, which does not exist; expected a file of tasks",
                location=Location("plan.toml", None, "data.train_files"),
                severity=Severity.ERROR,
                remedy=Remedy(kind=RemedyKind.FIX_CONFIG, summary="correct data.train_files, or create the file"),
            ),
        ),
    )


def test_silent_on_the_clean_machine() -> None:
    made = plan_of(data__train_files=["/data/train.parquet"], data__train_batch_size=64)
    assert judge("CFG007", "clean_gpu_node", plan=made).status is Status.PASS
    script = plan("[model]\nname = 'org/model'\n[orchestrator]\ngroup_size = 8\n", "rl.toml")
    assert judge("CFG007", "clean_gpu_node", plan=script).status is Status.SKIP


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("", ["data.train_files is empty; add at least one file of tasks"]),
        ("[data]\ntrain_files = ['t.parquet']\n", []),
        (
            "[data]\ntrain_files = ['t.parquet']\n[trainer]\nvalidate_every_steps = 5\n",
            [
                "validation is on but data.val_files is empty; add files, or set trainer.validate_first = false and validate_every_steps = -1"
            ],
        ),
    ],
)
def test_what_launch_refuses_is_an_error_without_a_machine_too(text: str, messages: list[str]) -> None:
    """launch refuses it with the same rule (skyrl_train/config/tasks.py)."""
    made = plan(f"[model]\npath = '/m'\n{text}")
    every = Roles(frozenset(Role), asked=False)  # as --structure-only has them
    findings = list(data_files_missing(made, None, None, every))
    assert [(one.severity, one.message) for one in findings] == [(Severity.ERROR, message) for message in messages]


REWARD = "custom_reward_function.path"
VERL = f"python -m verl.trainer.main_ppo data.train_files=/data/t.parquet {REWARD}=/r.py"


@pytest.mark.parametrize("beside", [False, True])
def test_a_program_that_is_missing_is_told_as_a_data_file_is(beside: bool) -> None:
    """verl also looks for some files beside its package, so their absence here is a warning."""
    file = DataFile(
        key=REWARD, path="/r.py", wrong="does not exist", kind="a Python file", may_be_beside_package=beside
    )
    roles = Roles(frozenset({Role.LOGIN}), asked=True)
    assert list(data_files_missing(plan(VERL, "run.sh"), DataFiles((file,)), None, roles)) == [
        Finding(
            message=f"{REWARD} names /r.py, which does not exist; expected a Python file",
            location=Location("run.sh", 1, REWARD),
            severity=Severity.WARNING if beside else Severity.ERROR,
            remedy=Remedy(kind=RemedyKind.FIX_CONFIG, summary=f"correct {REWARD}, or create the file"),
        )
    ]
