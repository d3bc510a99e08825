"""Turns the settings of findings into edits of the user's files, and writes them."""

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.core.model import Outcome, Severity
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.plan.edit import Proposal, propose
from skyrl_doctor.plan.load import load
from skyrl_doctor.plan.prime_migrate import migrate
from skyrl_doctor.plan.source import COMMAND_LINE, decode, read_source

MIGRATION, MIGRATION_SLUG = "PRM007", "key-renamed-since"
"""This fix rewrites the whole file, so it runs only if the user names it."""
_BOM = b"\xef\xbb\xbf"


def proposed_edits(
    machine: Machine,
    targets: Sequence[str],
    failed: Iterable[Outcome],
    *,
    selected: Iterable[str],
    verl_version: str | None = None,
) -> tuple[Proposal, ...]:
    """The targets with the settings of the findings worked in. Findings of severity info are skipped."""
    plan = load(machine, targets, verl_version=verl_version)
    sources = [read_source(machine, target) for target in targets]
    texts = {source.file: source.text for source in sources if source.file != COMMAND_LINE}
    if any(name.upper() == MIGRATION or name.lower() == MIGRATION_SLUG for name in selected):
        migrations = [(file, text, migrate(plan, file, text)) for file, text in texts.items()]
        return tuple(Proposal(file, text, done.text, done.left) for file, text, done in migrations)
    findings = [one for outcome in failed for one in outcome.findings if one.severity > Severity.INFO]
    return propose(plan, findings, texts)


def unapplied_settings(proposals: Iterable[Proposal]) -> Iterator[str]:
    """A line for each setting that the user must edit by hand."""
    return (f"{proposal.file}: not edited: {text}" for proposal in proposals for text in proposal.left)


def write(proposal: Proposal) -> None:
    """Replaces the file in one step, if it has not changed since it was read."""
    path = os.path.realpath(proposal.file)
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(path, "rb") as file:
            data = file.read()
        if decode(proposal.file, data) != proposal.old:
            raise UsageError(f"{proposal.file} has changed since it was read; nothing was written")
        with open(temporary, "wb") as new:
            new.write((_BOM if data.startswith(_BOM) else b"") + proposal.new.encode())
        shutil.copymode(path, temporary)
        os.replace(temporary, path)
    except OSError as error:
        raise UsageError(f"cannot write {proposal.file}: {error.strerror}") from None
