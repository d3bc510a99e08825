"""Writes the verdict of a passing report, which the trainer requires."""

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.plan.source import COMMAND_LINE, read_source
from skyrl_doctor.report.model import Report
from skyrl_train.contracts.verdict import LIFETIME_S, Verdict, config_hash, write


def write_verdict(job_dir: str, report: Report, *, unknown_allowed: bool) -> str:
    """Writes verdict.json into the job directory and returns its path."""
    machine = LocalMachine()
    now = machine.now()
    verdict = Verdict(
        config_sha256=config_hash([_target_bytes(machine, target) for target in report.targets]),
        node=report.host,
        role="+".join(report.roles),
        gpus=report.gpus,
        versions={"skyrl-doctor": report.version, **report.versions},
        outcomes={outcome.id: outcome.status.value for outcome in report.outcomes},
        unknown_allowed=unknown_allowed,
        written_at=now,
        expires_at=now + LIFETIME_S,
    )
    try:
        return write(job_dir, verdict)
    except OSError as error:
        raise UsageError(f"cannot write the verdict into {job_dir}: {error.strerror}") from None


def _target_bytes(machine: Machine, target: str) -> bytes:
    """The bytes of the target's file, or of the command line that is the target."""
    if read_source(machine, target).file == COMMAND_LINE:
        return target.encode("utf-8", "surrogateescape")
    return machine.read_bytes(target)
