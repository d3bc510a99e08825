"""skyrl-doctor fix: shows how to fix the findings. Changes of a configuration are shown as a diff.

--apply writes that diff and creates this job's directories and files. A process cannot change the variables of the
shell that started it, so for variables the command prints the line to paste.
"""

import argparse
import os
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from skyrl_doctor.cli.options import add_examination, add_structure_only
from skyrl_doctor.core.model import CORRECT
from skyrl_doctor.report.plain import plain
from skyrl_train.contracts.assignment import assignment
from skyrl_train.contracts.screen import fitted, limit, print_exact, print_line, print_lines

if TYPE_CHECKING:
    from skyrl_doctor.core.model import Finding, Outcome, Remedy, Severity
    from skyrl_doctor.plan.edits.repair import Repair

REMAINS, NOT_EXAMINED = 1, 2
EVAL = 'eval "$(skyrl-doctor env --role {})"'


def arguments(parser: argparse.ArgumentParser) -> None:
    add_examination(parser, targets=False)
    parser.add_argument(
        "words",
        nargs="*",
        metavar="ID|TARGET",
        help="an id or slug: fix only these findings; a configuration: examine and edit it",
    )
    parser.add_argument(
        "--apply", action="store_true", help="write the diff, and create the directories and files of this job"
    )
    add_structure_only(parser)
    parser.epilog = (
        "edit: the diff contains the change. safe: it changes nothing outside this job. by hand: you make the change. "
        "note: worth knowing; nothing fails. "
        "Exit status: 0 nothing to fix, or --apply fixed everything; 1 a finding remains; 2 bad input, or a check could "
        "not run."
    )


def run(args: argparse.Namespace) -> int:
    from skyrl_doctor.cli.session import machine_of, options_of
    from skyrl_doctor.core.errors import UsageError
    from skyrl_doctor.core.model import Status
    from skyrl_doctor.examination import run as examine
    from skyrl_doctor.machine.local import LocalMachine

    args.targets, ids = _split_words(args.words)
    args.select = [*args.select, *ids]
    if args.apply and args.bundle is not None:
        raise UsageError("--apply changes this machine, but --from examines a recording; use only one of them")
    report = examine(machine_of(args), LocalMachine(), options_of(args))
    failed = [outcome for outcome in report.outcomes if outcome.status is Status.FAIL]
    failed.sort(key=_severity, reverse=True)
    listed = [outcome for outcome in failed if any(map(_has_remedy, outcome.findings))]
    made = _repaired(args, failed)
    for outcome in listed:
        print_lines(_finding_lines(outcome, made))
    for found in made.more if made else ():
        print_line(f"{found.id}: the edits above need this one too")
        print_lines(_lines_of(found.finding, found.id, made))
    unseen = " ".join(outcome.id for outcome in report.outcomes if outcome.status is Status.UNKNOWN)
    if not listed:
        not_known = f" in the checks that ran; unknown: {unseen} (preflight prints the reasons)" if unseen else ""
        print_line(f"nothing to fix{not_known}")
        return NOT_EXAMINED if unseen else 0
    edited = _edit(args, made) if made else frozenset()
    if args.apply:
        _apply(args, {outcome.id for outcome in failed if _is_to_fix(outcome)} - edited)
    remaining = (outcome for outcome in failed if outcome.id not in edited)
    if any(_is_to_fix(outcome) for outcome in remaining):
        return REMAINS
    if unseen:
        print_line(f"unknown: {unseen} (preflight prints the reasons)")
    return NOT_EXAMINED if unseen else 0


def _severity(outcome: "Outcome") -> "Severity":
    return max(finding.severity for finding in outcome.findings)


def _has_remedy(finding: "Finding") -> bool:
    """False of a note on a value that needs no action."""
    from skyrl_doctor.core.model import UNKNOWN_VALUE, Severity

    needs_none = finding.remedy is not None and finding.remedy.summary == UNKNOWN_VALUE
    return finding.severity > Severity.INFO or not needs_none


def _is_to_fix(outcome: "Outcome") -> bool:
    """Whether a finding is more than a note."""
    from skyrl_doctor.core.model import Severity

    return _severity(outcome) > Severity.INFO


def _repaired(args: argparse.Namespace, failed: "Sequence[Outcome]") -> "Repair | None":
    """The targets with the findings fixed; None without targets or findings."""
    if not args.targets or not failed:
        return None
    from skyrl_doctor.cli.edits import proposed_repair
    from skyrl_doctor.cli.session import machine_of, options_of

    return proposed_repair(lambda: machine_of(args), options_of(args), failed)


def _edit(args: argparse.Namespace, made: "Repair") -> frozenset[str]:
    """Prints the diffs of the targets and, with --apply, writes them. Returns the ids whose findings are gone."""
    from skyrl_doctor.cli.edits import unapplied_settings, write
    from skyrl_doctor.plan.edits.proposal import diff

    changed = [proposal for proposal in made.proposals if proposal.new != proposal.old]
    for proposal in changed:
        print_exact(diff(proposal))
        if args.apply:
            write(proposal)
            print_line(f"wrote {proposal.file}")
    print_lines(fitted(unapplied_settings(made.proposals), limit()))
    return made.fixed if changed and args.apply else frozenset()


def _split_words(words: list[str]) -> tuple[list[str], list[str]]:
    """Targets and ids: a word that is a file or looks like a path is a target."""
    targets = [word for word in words if "/" in word or "." in word or os.path.exists(word)]
    return targets, [word for word in words if word not in targets]


def _finding_lines(outcome: "Outcome", made: "Repair | None") -> Iterator[str]:
    yield f"{outcome.id} {outcome.slug} ({_severity(outcome).word})"
    for finding in filter(_has_remedy, outcome.findings):
        yield from _lines_of(finding, outcome.id, made)


def _lines_of(finding: "Finding", check: str, made: "Repair | None") -> Iterator[str]:
    from skyrl_doctor.core.model import Severity
    from skyrl_doctor.report.lines import location_text, prompt

    place = f"{location_text(finding.location)}: " if finding.location else ""
    yield from fitted([f"  {place}{finding.message}"], limit())
    remedy = finding.remedy
    if remedy is None:
        yield f"  by hand: skyrl-doctor explain {check}"
        return
    reason = next((reason for one, reason in made.left if one == finding), "") if made else ""
    label = "note" if finding.severity <= Severity.INFO else "by hand" if reason else _label(remedy)
    what = _by_hand(finding, remedy)
    yield from fitted([f"  {label}: {what}{f' ({reason})' if reason and label == 'by hand' else ''}"], limit())
    yield from (f"      {prompt(command)}{command}" for command in remedy.commands)
    yield from (f"      {name} -> {new}" for name, new in remedy.moves.items())
    for name, value in remedy.settings.items():
        if not any(f"{name}={value}" in command for command in remedy.commands):  # not twice
            yield f"      {assignment(name, value)}"


def _by_hand(finding: "Finding", remedy: "Remedy") -> str:
    """The remedy in words. Of a setting whose right value only the user knows, its name."""
    key = finding.location.key if finding.location else None
    return f"change {plain(key)}" if remedy.summary == CORRECT and key else remedy.summary


def _label(remedy: "Remedy") -> str:
    if remedy.kind == "FIX_CONFIG" and (remedy.settings or remedy.moves or remedy.removes):
        return "edit"
    return "safe" if remedy.safe else "by hand"


def _apply(args: argparse.Namespace, failed: set[str]) -> None:
    """Creates the directories and files of the failed checks; prints the rest as lines to paste or fixes by hand."""
    from skyrl_doctor.cli.session import advice_of
    from skyrl_doctor.core.errors import UsageError
    from skyrl_doctor.core.model import Role
    from skyrl_train.node.apply import apply

    for role in (Role.GPU, Role.RUNTIME):
        args.started = time.monotonic()  # each examination gets the full deadline
        preparation = advice_of(args, role).prepared.preparation
        cured = sorted({setting.cures for setting in preparation.settings} & failed)
        if not cured:
            continue
        try:
            made = apply(preparation)
        except OSError as error:
            raise UsageError(str(error)) from None
        print_lines(f"created {path}" for path in made)
        print_line(f"for {', '.join(cured)}, run in the shell that starts the job: {EVAL.format(role)}")
        failed -= set(cured)
    if failed:
        print_line(f"fix by hand: {', '.join(sorted(failed))}")
