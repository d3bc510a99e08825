"""CFG007."""

import pytest

from checks.cfg.data_files_missing import data_files_missing
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Location, Outcome, Remedy, RemedyKind, Role, Severity, Status
from skyrl_doctor.facts.data_files import DataFile, DataFiles
from skyrl_doctor.facts.host import Host, Roles
from skyrl_doctor.facts.images.needed import NeededImages
from support import judge, plan_of

HERE = Host(
    name="n",
    user="u",
    uid=1,
    gid=1,
    pid=1,
    cpus=1,
    system="Linux",
    python="3.11",
    cwd="/home/ada/run",
    now=0,
)
GOOD = DataFile(key="data.train_files", path="/data/train.parquet")
GONE = DataFile(key="data.val_files", path="val.parquet", wrong="does not exist")
HIDDEN = DataFile(key="data.val_files", path="/secret/val.parquet", unsure="/secret/val.parquet: Permission denied")


def told(*files: DataFile, role: Role = Role.LOGIN, asked: bool = True) -> list[tuple[str, Severity]]:
    roles = Roles(frozenset({role}), asked)
    return [
        (found.message, found.severity) for found in data_files_missing(plan_of(), DataFiles(files), None, roles, HERE)
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
    findings = data_files_missing(plan_of(), DataFiles((HIDDEN, GONE)), None, Roles(frozenset({Role.GPU}), True), HERE)
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
    needed = NeededImages(files=("/data/train.parquet",), rows=rows, without=rows, named=(), prefix="")
    login = Roles(frozenset({Role.LOGIN}), asked=True)
    found = data_files_missing(plan_of(data__train_batch_size=8), DataFiles((GOOD,)), needed, login, HERE)
    assert [finding.message for finding in found] == messages


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
    plan = plan_of(data__train_files=["/data/train.parquet"], data__train_batch_size=64)
    assert judge("CFG007", "clean_gpu_node", plan=plan).status is Status.PASS
    assert judge("CFG007", "clean_gpu_node", plan=plan_of()).status is Status.SKIP
