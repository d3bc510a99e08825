"""Examines the machine of a recording, with the configuration that is given, or that of the job."""

import os
from collections.abc import Sequence

from skyrl_doctor.examination import Options, run
from skyrl_doctor.html.job import Job, configuration_of
from skyrl_doctor.html.subject import JOB, Examined
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.machine.recorded import RecordedMachine
from skyrl_doctor.report.model import Report


def examine_recording(directory: str, job: Job | None, config: Sequence[str] = ()) -> Examined:
    """The preflight of a recorded machine. Raises UsageError where the recording is damaged."""
    copied = [os.path.join(directory, JOB, name) for name, _ in (job.configs if job else ())]
    targets = tuple(config) or configuration_of(copied)
    report = run(RecordedMachine.load(directory), LocalMachine(), Options(targets=targets))
    return Examined(
        title="the recorded machine",
        verdict=report.verdict,
        outcomes=report.outcomes,
        notes=report.notes,
        facts=tuple(_facts(report)),
    )


def _facts(report: Report) -> list[tuple[str, str]]:
    return [
        ("host", report.host),
        ("role", "+".join(report.roles)),
        ("configuration", " ".join(map(os.path.basename, report.printed_targets)) or "none"),
        ("GPUs", ", ".join(report.gpus) or "none"),
        *sorted(report.versions.items()),
    ]
