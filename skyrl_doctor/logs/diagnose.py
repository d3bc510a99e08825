"""Diagnoses logs: paths in, the root cause of each job out."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import field

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.cause.root_cause import Diagnosis, find_root_cause
from skyrl_doctor.logs.judge.files import scan_file
from skyrl_doctor.logs.judge.tally import Scan
from skyrl_doctor.logs.match.patterns import installed_patterns
from skyrl_doctor.logs.read.slurm_job import is_of_own_launch, newest_first
from skyrl_doctor.logs.read.sources import find_sources


@record
class DiagnosedJob:
    """The diagnosis of one job, and the files it rests on.

    `slurm_id` is empty where the logs name no Slurm job. `versions` are those of the packages that the logs name, by package.
    """

    slurm_id: str
    diagnosis: Diagnosis
    read: tuple[str, ...]
    versions: Mapping[str, str] = field(default_factory=dict)

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
    """A diagnosis of each Slurm job, the newest first, and why other files, or parts of them, could not be read."""

    jobs: tuple[DiagnosedJob, ...]
    unread: tuple[str, ...]

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
    groups = _by_job(scans)
    jobs = [_diagnosed(id_, groups[id_], site_s) for id_ in newest_first(list(groups))]
    return Found(tuple(jobs) or (_diagnosed("", [], site_s),), tuple(unread))


def _diagnosed(slurm_id: str, scans: Sequence[Scan], site_s: int) -> DiagnosedJob:
    versions = {name.replace("_", "-"): found for one in reversed(scans) for name, found in one.versions.items()}
    return DiagnosedJob(slurm_id, find_root_cause(scans, site_s=site_s), tuple(one.file for one in scans), versions)


def _by_job(scans: Sequence[Scan]) -> dict[str, list[Scan]]:
    """The logs of each run by its newest job's id; a log without an id belongs to the only run, if there is just one."""
    run_of = _runs(scans)
    only = next(iter(run_of.values())) if len(set(run_of.values())) == 1 else ""
    launches = tuple(os.path.dirname(scan.file) for scan in scans if is_of_own_launch(scan.file))
    groups: dict[str, list[Scan]] = {}
    for scan in scans:
        is_launched = any(scan.file.startswith(os.path.join(where, "")) for where in launches)
        groups.setdefault("" if is_launched else run_of.get(scan.slurm_job.id, only), []).append(scan)
    return groups


def _runs(scans: Sequence[Scan]) -> dict[str, str]:
    """The newest job of each job's run: a job whose log says that it continues another one is of the same run."""
    ids = {scan.slurm_job.id for scan in scans} - {""}
    run_of = {id_: id_ for id_ in ids}
    for scan in scans:
        for earlier in scan.slurm_job.continues & ids:
            merged = {run_of[earlier], run_of[scan.slurm_job.id or earlier]}
            run_of |= {id_: newest_first(list(merged))[0] for id_, run in run_of.items() if run in merged}
    return run_of
