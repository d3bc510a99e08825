"""The rows of the plan's training files: how many, and the images that they name."""

import json

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.child import answer_of, unknown_if_malformed
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.machine.base import Absent, Machine
from skyrl_doctor.machine.paths import expand_home
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.extras import install
from skyrl_train.contracts.tasks.images import COLUMNS, HOLDERS, TaskImage, image_of

WHO = "training data"
LIMIT_S = 12.0


@record(kw_only=True)
class TrainingRows:
    """`images` are in the order of first use. `without` counts the rows that name no image. `unread` says why the rows
    are unknown; only a check that needs them is then UNKNOWN.
    """

    files: tuple[str, ...] = ()
    count: int = 0
    without: int = 0
    images: tuple[TaskImage, ...] = ()
    unread: str = ""


@unknown_if_malformed()
def parse_rows(text: str) -> TrainingRows:
    """Parses the output of children/dataset_images.py. Raises CouldNotLook if it is malformed."""
    answer = answer_of(text, WHO)
    if "why" in answer:
        return TrainingRows(unread=answer.text("why")[:400] + _remedy(answer.text("python", "")))
    files = answer.objects("files")
    rows = [row for file in files for row in file.values("found")]
    return TrainingRows(
        files=tuple(file.text("file", "") for file in files),
        count=sum(file.integer("rows", at_least=0) for file in files),
        without=sum(file.integer("without", at_least=0) for file in files),
        images=tuple(dict.fromkeys(image for row in rows if (image := image_of(row)) is not None)),
    )


def _remedy(python: str) -> str:
    """The command that installs pyarrow into the interpreter that lacks it."""
    if not python:
        return ""
    return f"; run {install('data', python=python)}"


@probe(limit_s=LIMIT_S + 1)
def training_rows(machine: Machine, plan: Plan, environ: Environ) -> TrainingRows:
    """Reads the training files with the training interpreter. What cannot be read is `unread`, so that it stops no check
    that needs no rows.
    """
    try:
        return _read(machine, plan, environ)
    except CouldNotLook as error:
        return TrainingRows(unread=str(error))


def _read(machine: Machine, plan: Plan, environ: Environ) -> TrainingRows:
    files = tuple(expand_home(file, environ) for file in plan.texts("data.train_files") or ())
    if not files:
        raise NotApplicable("the configuration names no dataset")
    for file in files:
        try:
            machine.stat(file)
        except Absent as error:  # it may exist on another node
            raise NotApplicable(f"dataset {error}") from None
    spec = json.dumps({"files": files, "columns": COLUMNS, "holders": HOLDERS}, sort_keys=True)
    python = plan.text("python.interpreter") or environ.get("UV_PYTHON")
    done = machine.ask("dataset_images", spec, python=python if python and "/" in python else None, limit_s=LIMIT_S)
    if not done.ok:
        raise CouldNotLook(done.why)
    return parse_rows(done.out)
