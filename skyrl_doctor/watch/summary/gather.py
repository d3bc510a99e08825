"""Facts about a job that is over: events, diagnosis, verdict, clocks. An unknown fact is None, never 0."""

import json
import os
import time
from collections.abc import Sequence
from typing import Any

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.cause.root_cause import Diagnosis
from skyrl_doctor.logs.cause.timeline import Timeline
from skyrl_doctor.logs.diagnose import DiagnosedJob, diagnose
from skyrl_doctor.logs.read.clock import CLOCK, Clock, parse_clock
from skyrl_doctor.watch.files import EVENTS
from skyrl_doctor.watch.follow.files import listing
from skyrl_doctor.watch.read.steps import StepReader
from skyrl_doctor.watch.sink.events import read
from skyrl_train.contracts import bounded
from skyrl_train.contracts.job_files import COUNTS
from skyrl_train.contracts.verdict import FILE as VERDICT

TAIL = 1 << 16


@record(kw_only=True)
class Story:
    """`gpus_from` is the source of `gpus`. `wasted_s` counts from the root cause's line to the last line of any log.

    Where the directory holds the logs of several Slurm jobs, the story is that of the newest, `slurm_id`; `logs` are its
    files, and `others` the older jobs.
    """

    job_dir: str
    node: str | None
    gpus: int | None
    gpus_from: str
    events: tuple[dict[str, Any], ...]
    diagnosis: Diagnosis
    unread: tuple[str, ...]
    wasted_s: float | None
    wasted_from: str
    last_step: int | None
    elsewhere: tuple[str, ...] = ()
    logs: tuple[str, ...] = ()
    slurm_id: str = ""
    others: tuple[DiagnosedJob, ...] = ()
    outages: str = ""

    @property
    def wasted_gpu_hours(self) -> float | None:
        return None if self.gpus is None or self.wasted_s is None else self.gpus * self.wasted_s / 3600


def gather(job_dir: str) -> Story:
    events = tuple(read(os.path.join(job_dir, EVENTS)))
    found = diagnose([seen.path for seen in listing([job_dir]).files] or [job_dir], site_s=time.localtime().tm_gmtoff)
    logs = found.newest.read
    verdict = _json(os.path.join(job_dir, VERDICT))
    gpus, gpus_from = _gpus(verdict)
    wasted_s, wasted_from = _wasted(logs, events, found.diagnosis)
    return Story(
        job_dir=job_dir,
        node=str(verdict["node"]) if verdict.get("node") else None,
        gpus=gpus,
        gpus_from=gpus_from,
        events=events,
        diagnosis=found.diagnosis,
        unread=found.unread,
        wasted_s=wasted_s,
        wasted_from=wasted_from,
        last_step=_last_step(logs),
        logs=logs,
        slurm_id=found.newest.slurm_id,
        others=found.jobs[1:],
        outages=_outages(job_dir),
    )


def _outages(job_dir: str) -> str:
    """The outages of the sandbox infrastructure that the run survived. Its counts are read by pydantic: only if there are any."""
    if not os.path.exists(os.path.join(job_dir, COUNTS)):
        return ""
    from skyrl_train.contracts.agent.counts_file import survived_outages

    return survived_outages(job_dir)


def _gpus(verdict: dict[str, Any]) -> tuple[int | None, str]:
    listed = verdict.get("gpus")
    if isinstance(listed, list) and listed:
        return len(listed), VERDICT
    return None, ""


def _wasted(logs: Sequence[str], events: tuple[dict[str, Any], ...], diagnosis: Diagnosis) -> tuple[float | None, str]:
    """By the clocks of the logs where both lines have one, or by the watch's clock."""
    begin, ends = diagnosis.root.line.clock if diagnosis.root else None, _last_clocks(logs)
    timeline = Timeline([begin, *ends])
    first, last = timeline.at(begin), max((timeline.at(clock) or 0.0 for clock in ends), default=None)
    if first is not None and last is not None and last >= first:
        return last - first, "the clocks of the logs"
    begun = [one["at"] for one in events if one["event"] == "finding" and one.get("root")]
    ended = [one["at"] for one in events if one["event"] == "end"]
    if begun and ended and ended[-1] >= begun[0]:
        return ended[-1] - begun[0], "the watch's own clock"
    return None, ""


def _last_clocks(logs: Sequence[str]) -> list[Clock]:
    last = [matches[-1] for text in _tails(logs) if (matches := list(CLOCK.finditer(text)))]
    return [parse_clock(match) for match in last]


def _last_step(logs: Sequence[str]) -> int | None:
    steps = [seen.step for text in _tails(logs) for seen in StepReader().take(text, 0.0)]
    return max(steps, default=None)


def _tails(logs: Sequence[str]) -> list[bytes]:
    """The ends of the logs, with the last clock and the last step."""
    texts = []
    for path in logs:
        try:
            with bounded.open_file(path) as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL))
                texts.append(file.read(TAIL))
        except OSError:
            continue
    return texts


def _json(path: str) -> dict[str, Any]:
    try:
        data = json.loads(bounded.read_text(path))
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
