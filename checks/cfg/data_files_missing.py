"""A file of tasks is not where the configuration says, or holds fewer of them than a step takes.

## What it does
Looks for every file of `data.train_files` and `data.val_files`: that it is there, is a file, and is not empty. Addresses
with `://` are left to those who fetch them. Where nobody said that this is the login node (`--role login`, as a launch does) or the
GPU node it is a warning: the file may lie there. Holds the number of training tasks against `data.train_batch_size`.

## Why it breaks training
The trainer opens its data after Ray has started, on a GPU that was waited for. Of fewer tasks than a batch no batch can be
made: verl counts none and ends.

## How to fix
Correct the path, or make the file: `skyrl-train data convert rows.jsonl train.parquet`. It must lie where the GPU node
sees it.

## Example
    FileNotFoundError: Unable to find '/home/me/data/r2e/train.parquet'
    AssertionError: Train dataloader is empty!
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.facts.data_files import DataFile, DataFiles
from skyrl_doctor.facts.host import Host, Roles
from skyrl_doctor.facts.images.needed import NeededImages
from skyrl_doctor.plan.findings import fault
from skyrl_doctor.plan.model import Plan

BATCH = "data.train_batch_size"


@check("CFG007", roles=[Role.LOGIN, Role.GPU], fix="operator: only the user knows where the tasks are")
def data_files_missing(
    plan: Plan, data: DataFiles, rows: NeededImages | None, roles: Roles, host: Host
) -> Iterator[Finding]:
    severity = Severity.ERROR if Role.GPU in roles or roles.asked else Severity.WARNING
    for file in data.files:
        if file.wrong:
            yield _missing(plan, file, host.cwd, severity)
    batch = plan.integer(BATCH)
    if rows is not None and batch is not None and rows.rows < batch:
        yield _too_few(plan, rows.rows, batch)
    unsure = [file.unsure for file in data.files if file.unsure]
    if unsure:
        raise CouldNotLook(unsure[0])


def _missing(plan: Plan, file: DataFile, cwd: str, severity: Severity) -> Finding:
    where = "" if file.path.startswith("/") else f" (begun in {cwd})"
    return Finding(
        message=f"{plan.name(file.key)} names {file.path}{where}, which {file.wrong}; wanted a file of tasks",
        location=plan.place(file.key),
        severity=severity,
        remedy=Remedy(kind=RemedyKind.FIX_CONFIG, summary=f"correct {plan.name(file.key)}, or make the file there"),
    )


def _too_few(plan: Plan, rows: int, batch: int) -> Finding:
    return fault(
        f"{plan.name(BATCH)} is {batch}, and the training files hold {rows} tasks; wanted at least {batch}",
        plan.place(BATCH),
        {plan.name(BATCH): str(rows)} if rows else {},
    )
