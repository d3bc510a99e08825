"""Finds out what a SOURCE of the report is, by what it holds, and reads it. What is not recognised is refused."""

import dataclasses
import os
import time
from collections.abc import Sequence

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.core.model import Outcome
from skyrl_doctor.core.record import record
from skyrl_doctor.html.cause import Cause, cause_in, configured_cause
from skyrl_doctor.html.job import Job, is_job, job_of_log, read_job, step_faults
from skyrl_doctor.html.log_form import is_log
from skyrl_doctor.logs.diagnose import diagnose
from skyrl_doctor.report.read import outcomes
from skyrl_doctor.watch.observations import Step
from skyrl_doctor.watch.past_steps import StepFault
from skyrl_train.contracts import bounded
from skyrl_train.contracts.similar_path import did_you_mean
from skyrl_train.contracts.typed import Fields, FormatError, parse_object

GATES = (("gate_trainer.json", "gate of the trainer"), ("gate_runtime.json", "gate of the runtime"))
JOB = "job"
"""The job's files in a bundle."""
RECORDING = "machine.json"
_FORMS = (
    "expected a job directory, a recording or bundle of `skyrl-doctor record`, the JSON report of `preflight` or "
    "`diagnose`, or a log"
)


@record(kw_only=True)
class Examined:
    """The result of a preflight. `facts` are names and values: host, role, targets."""

    title: str
    verdict: str
    outcomes: tuple[Outcome, ...]
    notes: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()


@record(kw_only=True)
class Subject:
    """What the page is about."""

    name: str
    kind: str
    examined: tuple[Examined, ...] = ()
    cause: Cause | None = None
    steps: tuple[Step, ...] = ()
    faults: tuple[StepFault, ...] = ()
    """Of the steps, where no failure is known."""
    job: Job | None = None
    machine: str = ""
    """The directory of a recording, which is still to be examined."""


CONFIGURATIONS = (".sh", ".sbatch", ".slurm", ".toml", ".yaml", ".yml", ".conf", ".py")
"""Names of files that are no logs."""


def read_subject(source: str, config: Sequence[str] = ()) -> Subject:
    """Raises UsageError if the source is unreadable or not recognised. `config` are the files of the run's configuration."""
    if os.path.isdir(source):
        return _directory(source, config)
    try:
        with bounded.open_file(source) as file:
            begin = file.read(1)
    except OSError as error:
        meant = did_you_mean(source) if isinstance(error, FileNotFoundError) else ""
        raise UsageError(f"{source}: {error.strerror}{meant}") from None
    if begin == b"{" and (found := _json(source)) is not None:
        if config:
            raise UsageError(f"--config is for a log or a job directory, and {source} is a report; leave it out")
        return found
    if source.endswith(CONFIGURATIONS):
        raise UsageError(
            f"{source} is a configuration or a script; write the report of its preflight: `skyrl-doctor preflight {source} "
            "--format json --output preflight.json; skyrl-doctor report preflight.json`"
        )
    return _log(source, config)


def _directory(path: str, config: Sequence[str]) -> Subject:
    name = os.path.basename(os.path.abspath(path))
    has_machine = os.path.isfile(os.path.join(path, RECORDING))
    inner = os.path.join(path, JOB)
    if has_machine and os.path.isdir(inner):
        return dataclasses.replace(_job(inner, name, "bundle", config), machine=path)
    if has_machine:
        return Subject(name=name, kind="recording", machine=path)
    if is_job(path):
        return _job(path, name, "job", config)
    raise UsageError(f"{path} holds no job, recording or log; {_FORMS}")


def _job(path: str, name: str, kind: str, config: Sequence[str]) -> Subject:
    job, cause, faults = read_job(path, config)
    gates = tuple(_gates(path))
    return Subject(name=name, kind=kind, examined=gates, cause=cause, steps=job.steps, faults=faults, job=job)


def _gates(path: str) -> list[Examined]:
    found = []
    for file, title in GATES:
        try:
            found.append(_examined(parse_object(bounded.read_bytes(os.path.join(path, file)), file), title))
        except (OSError, FormatError):
            continue
    return found


def _json(source: str) -> Subject | None:
    """The subject of a JSON report; None for another file that begins with a brace, such as a log of JSON lines."""
    name = os.path.basename(source)
    try:
        data = parse_object(bounded.read_bytes(source), name)
    except (OSError, FormatError):
        return None
    try:
        if "outcomes" in data:
            return Subject(name=name, kind="preflight", examined=(_examined(data, "preflight"),))
        if "runs" in data:
            runs = [
                _examined(one, " ".join(one.inner("target").texts("files")) or "run") for one in data.objects("runs")
            ]
            return Subject(name=name, kind="preflight", examined=tuple(runs))
        if "matches" in data:
            cause = cause_in(data)
            faults = () if cause.known else tuple(_fault(one) for one in data.objects("steps", ()))
            return Subject(name=name, kind="diagnosis", cause=cause, faults=faults)
    except FormatError as error:
        raise UsageError(f"{source} is not a report of this version: {error}") from None
    raise UsageError(f"{source} is JSON, but not a report; {_FORMS}")


def _fault(stored: Fields) -> StepFault:
    return StepFault(
        id=stored.text("id"),
        slug=stored.text("slug"),
        file=stored.text("file"),
        line=stored.integer("line", 0),
        step=stored.integer("step"),
        message=stored.text("message"),
        advice=stored.text("advice", ""),
        is_error=stored.value("error") is True,
    )


def _examined(data: Fields, title: str) -> Examined:
    target = data.inner("target")
    return Examined(
        title=title,
        verdict=data.choice("verdict", ["pass", "fail", "unknown"]),
        outcomes=outcomes(data),
        notes=data.texts("notes", ()),
        facts=(
            ("host", data.text("host")),
            ("role", data.text("role")),
            ("configuration", " ".join(target.texts("files")) or "none"),
            ("doctor", data.text("version")),
        ),
    )


def _log(source: str, config: Sequence[str]) -> Subject:
    found = diagnose([source], site_s=time.localtime().tm_gmtoff)
    if not found.read:
        raise UsageError(f"{found.unread[0] if found.unread else source}; {_FORMS}")
    if found.newest.is_silent:
        raise UsageError(f"{source} is empty; {_FORMS}")
    if not is_log(source, found.diagnosis):
        raise UsageError(
            f"{source} is not a log: no line has a time, a level, a figure of training or an error; {_FORMS}"
        )
    name = os.path.basename(source)
    job = job_of_log(source, found.diagnosis)
    cause = configured_cause(found.diagnosis, config)
    faults = step_faults(found.diagnosis, found.read)
    return Subject(name=name, kind="log", cause=cause, steps=job.steps, faults=faults, job=job if job.steps else None)
