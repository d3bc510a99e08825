"""A data file is missing, empty or holds fewer tasks than one step takes.

## What it does
Checks that every file of `data.train_files` and `data.val_files` exists, is a file and is not empty. Addresses with
`://` are not checked. It is an error on a GPU node and with `--role` (a launch passes `--role login`), otherwise a
warning, because the GPU node may have the file. Compares the number of training tasks with `data.train_batch_size`.

## Why it breaks training
The trainer opens its data after the queue, when Ray has started. If the files hold fewer tasks than one batch, verl
finds no batch and ends.

## How to fix
Correct the path, or create the file: `skyrl-train data convert rows.jsonl train.parquet`. The GPU node must be able
to read it.

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
from skyrl_doctor.plan.findings import config_finding
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
    where = "" if file.path.startswith("/") else f" (relative to {cwd})"
    return Finding(
        message=f"{plan.name(file.key)} names {file.path}{where}, which {file.wrong}; expected a file of tasks",
        location=plan.place(file.key),
        severity=severity,
        remedy=Remedy(kind=RemedyKind.FIX_CONFIG, summary=f"correct {plan.name(file.key)}, or create the file"),
    )


def _too_few(plan: Plan, rows: int, batch: int) -> Finding:
    return config_finding(
        f"{plan.name(BATCH)} is {batch}, but the training files hold only {rows} tasks; expected at least {batch}",
        plan.place(BATCH),
        plan.settings({BATCH: str(rows)}) if rows else {},
    )
