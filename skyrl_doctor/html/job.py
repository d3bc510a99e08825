"""Reads a job directory for the page: its steps, rollouts, events, configuration and node. Everything may be missing."""

import dataclasses
import itertools
import json
import math
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.core.record import record
from skyrl_doctor.html.cause import Cause, cause_of, configured_cause
from skyrl_doctor.html.command import gpus_asked
from skyrl_doctor.logs.cause.clock_span import clock_span
from skyrl_doctor.logs.cause.root_cause import Diagnosis
from skyrl_doctor.watch.figures import STEP_S
from skyrl_doctor.watch.follow.files import listing
from skyrl_doctor.watch.observations import Step
from skyrl_doctor.watch.past_steps import StepFault, judged_steps
from skyrl_doctor.watch.read.steps import StepReader
from skyrl_doctor.watch.summary.gather import Story, gather
from skyrl_train.contracts import bounded
from skyrl_train.contracts.job_files import COMPLETE, JOB_SUMMARIES
from skyrl_train.contracts.rollout_summaries import Summary, directory_of, files_in, read, step_of
from skyrl_train.contracts.typed import FormatError, as_object, parse_object
from skyrl_train.contracts.verdict import FILE as VERDICT

MOST_STEPS = 20_000
MOST_ROLLOUTS = 60_000
MOST_LOG_BYTES = 2 << 30
MOST_CONFIG_BYTES = 1 << 20
PIECE = 1 << 20
CONFIGS = (".toml", ".conf", ".sh", ".yaml")
SIGNS = frozenset({"config.json", "jobs.json", "events.jsonl", "watch.state.json", VERDICT, COMPLETE})
"""Files by which a directory is known as a job's."""

Rollouts = tuple[tuple[int | None, Summary], ...]


@record(kw_only=True)
class Job:
    """What is known of a job. `notes` say what was not read, and why."""

    events: tuple[Mapping[str, Any], ...] = ()
    node: str = ""
    gpus: int | None = None
    gpus_from: str = ""
    wasted_s: float | None = None
    wasted_from: str = ""
    clocked_s: float | None = None
    steps: tuple[Step, ...] = ()
    rollouts: Rollouts = ()
    configs: tuple[tuple[str, str], ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    ends: tuple[tuple[str, float, str], ...] = ()
    notes: tuple[str, ...] = ()
    outages: str = ""

    @property
    def begun_at(self) -> float | None:
        return min((float(one["at"]) for one in self.events), default=None)

    @property
    def ended_at(self) -> float | None:
        at = [float(one["at"]) for one in self.events] + [at for _, at, _ in self.ends]
        return max(at, default=None)

    @property
    def duration_s(self) -> float | None:
        """The longest of what is known of it: a watch may begin late, and a log may lack steps. No part is longer."""
        parts = (self.watched_s or 0.0, self.clocked_s or 0.0, self.seconds_of_steps, self.wasted_s or 0.0)
        return max(parts) or None

    @property
    def watched_s(self) -> float | None:
        """From the first event to the last one."""
        begun, ended = self.begun_at, self.ended_at
        return ended - begun if begun is not None and ended is not None and ended > begun else None

    @property
    def seconds_of_steps(self) -> float:
        seconds = (STEP_S.value(step.metrics) for step in self.steps)
        return sum(value for value in seconds if value is not None and math.isfinite(value) and value > 0)


def is_job(directory: str) -> bool:
    """Whether a directory is a job's: it has a file that only a launch or a watch writes, or a log."""
    try:
        names = set(os.listdir(directory))
    except OSError:
        return False
    return bool(names & SIGNS) or bool(listing([directory]).files)


def read_job(directory: str, config: Sequence[str] = ()) -> tuple[Job, Cause, tuple[StepFault, ...]]:
    """All that the page shows of a job, the cause that its logs show, and the faults of its steps.

    Without `config`, the configuration that the launch copied is judged.
    """
    notes: list[str] = []
    story = gather(directory)
    gpus, gpus_from = (story.gpus, "") if story.gpus is not None else _gpus_asked(story.logs)
    configs = tuple(_configs(directory))
    slurm_jobs = tuple(_slurm_jobs(story))
    cause = _cause(story.diagnosis, config, [os.path.join(directory, name) for name, _ in configs], notes)
    job = Job(
        events=story.events,
        node=story.node or "",
        gpus=gpus,
        gpus_from=gpus_from,
        wasted_s=story.wasted_s,
        wasted_from=story.wasted_from,
        clocked_s=_clocked(story.diagnosis, story.logs),
        steps=_steps(story.logs, notes),
        rollouts=_rollouts(directory, notes),
        configs=configs,
        environment=tuple(_environment(directory)),
        ends=tuple(_ends(directory)),
        notes=(*notes, *story.unread),
        outages=story.outages,
    )
    return job, dataclasses.replace(cause, notes=(*slurm_jobs, *cause.notes)), step_faults(story.diagnosis, story.logs)


def step_faults(diagnosis: Diagnosis, logs: Sequence[str]) -> tuple[StepFault, ...]:
    """The faults of the steps; none beside a known failure, as `diagnose` prints them."""
    return () if diagnosis.root else judged_steps(diagnosis, logs).faults


def _slurm_jobs(story: Story) -> Iterator[str]:
    """Where the directory holds the logs of several Slurm jobs: which one the page is about, and how to get the others."""
    if not story.others:
        return
    yield f"This page is about {_logs_of(story.slurm_id)}, the newest in this directory: {', '.join(story.logs)}."
    for other in story.others:
        yield f"Not on this page: {_logs_of(other.slurm_id)}. For a page of it: skyrl-doctor report {shlex.quote(other.read[0])}"


def _logs_of(slurm_id: str) -> str:
    return f"Slurm job {slurm_id}" if slurm_id else "logs that name no Slurm job"


def _cause(diagnosis: Diagnosis, config: Sequence[str], copied: Sequence[str], notes: list[str]) -> Cause:
    """The cause, with what the configuration says of it. A copied configuration that is unreadable is a note."""
    if config:
        return configured_cause(diagnosis, config)
    try:
        return configured_cause(diagnosis, configuration_of(copied))
    except UsageError as error:
        notes.append(str(error))
        return cause_of(diagnosis)


def configuration_of(copied: Sequence[str]) -> tuple[str, ...]:
    """The file among a job's copies that describes the run."""
    return tuple(name for name in copied if name.endswith((".toml", ".conf")))[:1]


def job_of_log(path: str, diagnosis: Diagnosis) -> Job:
    """What one log shows of its job: its clocks, the steps, and the GPUs of the command that it prints."""
    gpus, gpus_from = _gpus_asked([path])
    return Job(steps=_steps([path], []), clocked_s=_clocked(diagnosis, [path]), gpus=gpus, gpus_from=gpus_from)


def _clocked(diagnosis: Diagnosis, logs: Sequence[str]) -> float | None:
    """The longest time that the clocks of one log cover: logs of other programs may be of another zone.

    None where a log holds several runs.
    """
    if diagnosis.earlier:
        return None
    return max((seconds for log in logs if (seconds := clock_span(log)) is not None), default=None)


def _gpus_asked(logs: Sequence[str]) -> tuple[int | None, str]:
    """The GPUs by the command that a log prints, and the source for the page."""
    found = next((gpus for log in logs if (gpus := gpus_asked(log)) is not None), None)
    return (None, "") if found is None else (found, "the command in the log")


def _steps(paths: Sequence[str], notes: list[str]) -> tuple[Step, ...]:
    """The steps of all logs in order. A step that several logs have, or that was repeated after a resume, is the last."""
    found: dict[int, Step] = {}
    for path in paths:
        try:
            for step in _steps_of(path):
                found[step.step] = step
        except OSError as error:
            notes.append(f"{path}: {error.strerror}")
        if len(found) > MOST_STEPS:
            notes.append(f"only {MOST_STEPS} steps are read")
            break
    return tuple(found[number] for number in sorted(found)[:MOST_STEPS])


def _steps_of(path: str) -> Iterator[Step]:
    reader, kept, total = StepReader(), b"", 0
    with bounded.open_file(path) as file:
        while (piece := file.read(PIECE)) and total < MOST_LOG_BYTES:
            total += len(piece)
            text = kept + piece
            end = text.rfind(b"\n") + 1
            if not end and len(text) < 4 * PIECE:
                kept = text
                continue
            yield from reader.take(text[: end or len(text)], 0.0)
            kept = text[end:] if end else b""
    yield from reader.take(kept, 0.0)


def _rollouts(directory: str, notes: list[str]) -> Rollouts:
    stored = os.path.join(directory, JOB_SUMMARIES)
    if os.path.exists(stored):
        return tuple(_stored(stored, notes))
    found: list[tuple[int | None, Summary]] = []
    broken = 0
    try:
        for step, summary in _summaries(directory):
            broken += summary is None
            found += [(step, summary)] if summary else []
    except FileNotFoundError:
        return ()
    except OSError as error:
        notes.append(f"rollouts: {error.strerror}")
    if len(found) + broken >= MOST_ROLLOUTS:
        notes.append(f"only the first {MOST_ROLLOUTS} rollouts are read")
    if broken:
        notes.append(f"rollouts: {broken} invalid {'line' if broken == 1 else 'lines'}")
    return tuple(found)


def _summaries(directory: str) -> Iterator[tuple[int | None, Summary | None]]:
    """The rollouts of all files, up to the limit."""
    every = ((step_of(path), one) for path in files_in(directory_of(directory)) for _, one in read(path))
    return itertools.islice(every, MOST_ROLLOUTS)


def _stored(path: str, notes: list[str]) -> Iterator[tuple[int | None, Summary]]:
    """The summaries in a bundle."""
    for number, (_, line) in enumerate(bounded.lines(path, longest=1 << 16)):
        if number >= MOST_ROLLOUTS:
            notes.append(f"only the first {MOST_ROLLOUTS} rollouts are read")
            return
        try:
            yield summary_of_stored(line or "")
        except (FormatError, TypeError):
            notes.append(f"{JOB_SUMMARIES}: line {number + 1} is invalid")
            return


def summary_of_stored(line: str) -> tuple[int | None, Summary]:
    """A line of a bundle's summaries: the step, and the fields of a Summary. Raises FormatError."""
    one = parse_object(line, JOB_SUMMARIES)
    return one.integer("step", None), Summary(
        rollout=one.text("rollout"),
        task=one.text("task"),
        finish=one.text("finish"),
        detail=one.text("detail"),
        reward=one.number("reward", None),
        why=one.text("why"),
        masked=one.value("masked") is True,
        turns=one.integer("turns"),
        prompt=one.integer("prompt"),
        written=one.integer("written"),
        read=one.integer("read"),
        call_errors=one.integer("call_errors"),
        reply_s=one.number("reply_s"),
        command_s=one.number("command_s"),
        duration_s=one.number("duration_s"),
        tools=one.texts("tools"),
    )


def _configs(directory: str) -> Iterator[tuple[str, str]]:
    """The configurations that the launch copied."""
    for name in sorted(os.listdir(directory)):
        if not name.endswith(CONFIGS):
            continue
        try:
            yield name, bounded.read_text(os.path.join(directory, name), most_bytes=MOST_CONFIG_BYTES, errors="replace")
        except OSError:
            continue


def _environment(directory: str) -> Iterator[tuple[str, str]]:
    """What the gate recorded of the node."""
    verdict = _object(os.path.join(directory, VERDICT))
    for name in ("node", "role"):
        if isinstance(verdict.get(name), str):
            yield name, verdict[name]
    gpus = verdict.get("gpus")
    if isinstance(gpus, list):
        yield "GPUs", ", ".join(map(str, gpus)) or "none"
    versions = verdict.get("versions")
    yield from ((str(name), str(text)) for name, text in (versions.items() if isinstance(versions, dict) else ()))


def _ends(directory: str) -> Iterator[tuple[str, float, str]]:
    """How each of the two jobs ended."""
    for role in ("runtime", "trainer"):
        try:
            one = as_object(_object(os.path.join(directory, f"{role}_ended.json")))
            status, reason = one.integer("status"), one.text("reason", "")
            yield role, one.number("at"), f"exited with status {status}{f': {reason}' if reason else ''}"
        except FormatError:
            continue


def _object(path: str) -> Mapping[str, Any]:
    try:
        data = json.loads(bounded.read_text(path))
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
