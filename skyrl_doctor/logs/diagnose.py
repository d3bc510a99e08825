"""Diagnoses logs: paths in, the root cause of each job out."""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from dataclasses import field

from skyrl_doctor.core.record import record
from skyrl_doctor.core.signature import Part
from skyrl_doctor.logs.cause.root_cause import Diagnosis, find_root_cause
from skyrl_doctor.logs.judge.error_lines import count_error_lines
from skyrl_doctor.logs.judge.files import scan_file
from skyrl_doctor.logs.judge.lines import Line
from skyrl_doctor.logs.judge.tally import Scan
from skyrl_doctor.logs.match.errors import Weight
from skyrl_doctor.logs.match.patterns import installed_patterns
from skyrl_doctor.logs.read.job_groups import JobLogs, group_by_job
from skyrl_doctor.logs.read.sources import find_sources


@record
class DiagnosedJob:
    """The diagnosis of one job, and the files it rests on.

    `slurm_id` is empty where the logs name no Slurm job. `versions` are those of the packages that the logs name, by package.
    `near` are the files that only their directory joins to the job, `unexplained` the unknown errors of those without a cause.
    """

    slurm_id: str
    diagnosis: Diagnosis
    read: tuple[str, ...]
    versions: Mapping[str, str] = field(default_factory=dict)
    near: tuple[str, ...] = ()
    unexplained: tuple[Line, ...] = ()

    @property
    def empty(self) -> tuple[str, ...]:
        """The files that were read and are empty: they do not show that a run is healthy."""
        return tuple(file for file in self.read if _is_empty(file))

    @property
    def is_failed(self) -> bool:
        return bool(self.diagnosis.root or self.diagnosis.unknown)

    @property
    def is_silent(self) -> bool:
        """Whether all its files are empty."""
        return len(self.empty) == len(self.read)


@record
class Found:
    """A diagnosis of each Slurm job, the newest first, then of runs without an id, the failed ones first; and why other files, or parts of them, could not be read."""

    jobs: tuple[DiagnosedJob, ...]
    unread: tuple[str, ...]
    skipped: tuple[str, ...] = ()

    @property
    def newest(self) -> DiagnosedJob:
        return self.jobs[0]

    @property
    def diagnosis(self) -> Diagnosis:
        """That of the newest job."""
        return self.newest.diagnosis

    @property
    def read(self) -> tuple[str, ...]:
        return tuple(file for job in self.jobs for file in job.read)


def _is_empty(file: str) -> bool:
    try:
        return os.path.isfile(file) and not os.path.getsize(file)
    except OSError:  # the file vanished meanwhile
        return False


def diagnose(paths: list[str], *, site_s: int = 0) -> Found:
    """Read each log once, and find the root cause of each Slurm job. `site_s` is the zone of logs that write none, in seconds east of UTC."""
    sources = find_sources(paths)
    scans: list[Scan] = []
    unread = list(sources.missing)
    for order, file in enumerate(sources.files):
        found = scan_file(file, installed_patterns(), order=order)
        scans += [found.scan] if found.scan else []
        unread += [found.unread] if found.unread else []
    by_file = {scan.file: scan for scan in scans}
    groups = group_by_job({file: scan.job_words for file, scan in by_file.items()})
    jobs = [_diagnosed_group(group, by_file, site_s) for group in groups]
    placed = sorted(
        zip(groups, jobs, strict=True), key=lambda one: 0 if one[0].is_dated else 1 + (not one[1].is_failed)
    )
    jobs = [job for _, job in placed]
    return Found(tuple(jobs) or (_diagnosed("", [], site_s),), tuple(unread), sources.skipped)


def _diagnosed_group(group: JobLogs, by_file: Mapping[str, Scan], site_s: int) -> DiagnosedJob:
    job = _diagnosed(group.slurm_id, [by_file[file] for file in group.files], site_s)
    if job.diagnosis.root is None:
        return dataclasses.replace(job, near=group.near)
    unexplained = filter(None, (_unexplained(by_file[file]) for file in group.near))
    return dataclasses.replace(job, near=group.near, unexplained=tuple(unexplained))


def _unexplained(scan: Scan) -> Line | None:
    """The unknown error of a file that shows no cause: it may be that of another run."""
    is_explained = any(hit.failure.signature.role is Part.ROOT for hit in scan.hits) or scan.named is not None
    is_serious = scan.weight is not None and scan.weight >= Weight.ERROR
    return scan.suspect if is_serious and not is_explained else None


def _diagnosed(slurm_id: str, scans: Sequence[Scan], site_s: int) -> DiagnosedJob:
    versions = {name.replace("_", "-"): found for one in reversed(scans) for name, found in one.versions.items()}
    diagnosis = _counted(find_root_cause(scans, site_s=site_s, slurm_id=slurm_id), scans)
    return DiagnosedJob(slurm_id, diagnosis, tuple(one.file for one in scans), versions)


def _counted(diagnosis: Diagnosis, scans: Sequence[Scan]) -> Diagnosis:
    """The diagnosis with the number of error lines, where none of them ended the run. Files with several runs are not counted."""
    if diagnosis.tolerated is None or diagnosis.root or diagnosis.unknown or diagnosis.earlier:
        return diagnosis
    counts = [count_error_lines(scan.file, installed_patterns()) for scan in scans]
    known = [count for count in counts if count is not None]
    return dataclasses.replace(diagnosis, errors=sum(known) if len(known) == len(counts) else None)
