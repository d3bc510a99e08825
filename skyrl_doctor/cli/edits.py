"""Turns findings into edits of the user's files, judges them, and writes them."""

import dataclasses
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.core.model import Outcome, Severity
from skyrl_doctor.examination import Options, run
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.machine.overlay import Overlay
from skyrl_doctor.plan.edits.proposal import Proposal
from skyrl_doctor.plan.edits.repair import Found, Repair, Texts, repair
from skyrl_doctor.plan.load import load
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.plan.prime_renames import unmoved
from skyrl_doctor.plan.source import COMMAND_LINE, LIMIT_BYTES, decode, read_source
from skyrl_train.contracts.files import replacing

MIGRATION, MIGRATION_SLUG = "PRM007", "key-renamed-since"
"""This fix rewrites the whole file, so it runs only if the user names it."""
_BOM = b"\xef\xbb\xbf"


def proposed_repair(machine: Callable[[], Machine], options: Options, failed: Iterable[Outcome]) -> Repair:
    """The targets with the findings fixed and judged again on this machine. Findings of severity info are skipped."""
    reader = LocalMachine()
    sources = [read_source(reader, target) for target in options.targets]
    texts = {source.file: source.text for source in sources if source.file != COMMAND_LINE}
    is_migration = any(name.upper() == MIGRATION or name.lower() == MIGRATION_SLUG for name in options.selected)
    findings = [
        Found(outcome.id, finding)
        for outcome in failed
        for finding in outcome.findings
        if finding.severity > Severity.INFO or (is_migration and outcome.id == MIGRATION)
    ]

    def read(edited: Texts) -> Plan:
        return load(Overlay(reader, edited), options.targets, verl_version=options.verl_version)

    def judge(edited: Texts) -> Sequence[Outcome]:
        every = dataclasses.replace(options, selected=(), started=time.monotonic())
        return run(Overlay(machine(), edited), Overlay(LocalMachine(), edited), every).outcomes

    made = repair(findings, texts, read, judge, allow_new=is_migration)
    if not is_migration:
        return made
    plan = load(reader, options.targets, verl_version=options.verl_version)
    return dataclasses.replace(
        made,
        proposals=tuple(dataclasses.replace(one, left=(*one.left, *unmoved(plan, one.file))) for one in made.proposals),
    )


def unapplied_settings(proposals: Iterable[Proposal]) -> Iterator[str]:
    """A line for each key that the user must move by hand."""
    return (f"{proposal.file}: not edited: {text}" for proposal in proposals for text in proposal.left)


def write(proposal: Proposal) -> None:
    """Replaces the file in one step, if it has not changed since it was read. Links are refused."""
    path = proposal.file
    try:
        data, before = _read_plain(path)
        if decode(path, data) != proposal.old:
            raise UsageError(f"{path} has changed since it was read; nothing was written")
        with replacing(path, like=before) as file:
            file.write((_BOM if data.startswith(_BOM) else b"") + proposal.new.encode())
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def _read_plain(path: str) -> tuple[bytes, os.stat_result]:
    """The content and the stat of a plain file with one name. Raises UsageError for a link."""
    if os.path.islink(path):
        raise UsageError(f"cannot write {path}: it is a link to {os.path.realpath(path)}; name that file")
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        before = os.fstat(file.fileno())
        if not stat.S_ISREG(before.st_mode):
            raise UsageError(f"cannot write {path}: it is not a plain file")
        if before.st_nlink > 1:
            raise UsageError(
                f"cannot write {path}: the file has {before.st_nlink} names (hard links), and only one would change"
            )
        data = file.read(LIMIT_BYTES + 1)
        if len(data) > LIMIT_BYTES:
            raise UsageError(f"cannot write {path}: larger than {LIMIT_BYTES >> 20} MiB")
        return data, before
