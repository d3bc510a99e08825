"""skyrl-doctor fix: what would cure the findings. Settings of a configuration are shown as a diff of the user's file.

--apply writes that diff, and makes this job's own directories and files. A process cannot change the variables of the
shell that started it: for those it names the line to paste.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from skyrl_doctor.cli.options import add_examination

if TYPE_CHECKING:
    from skyrl_doctor.core.model import Outcome, Remedy

EVAL = 'eval "$(skyrl-doctor env --role {})"'


def arguments(parser: argparse.ArgumentParser) -> None:
    add_examination(parser, targets=False)
    parser.add_argument(
        "words", nargs="*", metavar="ID|TARGET", help="only these findings; a configuration to examine with"
    )
    parser.add_argument(
        "--apply", action="store_true", help="write the diff; make the directories and files that safe remedies name"
    )


def run(args: argparse.Namespace) -> int:
    from skyrl_doctor.cli.session import machine_of, options_of
    from skyrl_doctor.core.errors import UsageError
    from skyrl_doctor.core.model import Status
    from skyrl_doctor.examination import run as examine
    from skyrl_doctor.machine.local import LocalMachine

    args.targets, ids = _sorted_out(args.words)
    args.select = [*args.select, *ids]
    if args.apply and args.bundle is not None:
        raise UsageError("--apply changes this machine and --from looks at another; wanted one of the two")
    report = examine(machine_of(args), LocalMachine(), options_of(args))
    failed = [outcome for outcome in report.outcomes if outcome.status is Status.FAIL]
    for outcome in failed:
        sys.stdout.write("".join(f"{line}\n" for line in _shown(outcome)))
    if not failed:
        unseen = " ".join(outcome.id for outcome in report.outcomes if outcome.status is Status.UNKNOWN)
        not_seen = f" was found; could not be looked at, as preflight tells: {unseen}" if unseen else ""
        sys.stdout.write(f"nothing to fix{not_seen}\n")
        return report.code
    edited = _edit(args, failed)
    if args.apply:
        _apply(args, {outcome.id for outcome in failed} - edited)
    return report.code


def _edit(args: argparse.Namespace, failed: "Sequence[Outcome]") -> set[str]:
    """Shows the diffs of the targets, and writes them with --apply; the ids whose settings they hold."""
    if not args.targets:
        return set()
    from skyrl_doctor.cli.edits import edits, left_out, write
    from skyrl_doctor.machine.local import LocalMachine
    from skyrl_doctor.plan.edit import diff

    proposals = edits(LocalMachine(), args.targets, failed, asked=args.select)
    changed = [proposal for proposal in proposals if proposal.new != proposal.old]
    for proposal in changed:
        sys.stdout.write(diff(proposal))
        if args.apply:
            write(proposal)
            sys.stdout.write(f"wrote {proposal.file}\n")
    sys.stdout.write("".join(f"{line}\n" for line in left_out(proposals)))
    if not (changed and args.apply):
        return set()
    return {one.id for one in failed if any(finding.remedy and finding.remedy.settings for finding in one.findings)}


def _sorted_out(words: list[str]) -> tuple[list[str], list[str]]:
    """Targets are files, or look like paths; the rest are ids and slugs."""
    targets = [word for word in words if "/" in word or "." in word or os.path.exists(word)]
    return targets, [word for word in words if word not in targets]


def _shown(outcome: "Outcome") -> Iterator[str]:
    yield f"{outcome.id} {outcome.slug}"
    for finding in outcome.findings:
        yield f"  {finding.message}"
        remedy = finding.remedy
        if remedy is None:
            yield f"  by hand: skyrl-doctor explain {outcome.id}"
            continue
        yield f"  {_how(remedy)} ({remedy.kind}): {remedy.summary}"
        yield from (f"      $ {command}" for command in remedy.commands)
        yield from (f"      {name} = {value}" for name, value in remedy.settings.items())


def _how(remedy: "Remedy") -> str:
    if remedy.kind == "FIX_CONFIG" and remedy.settings:
        return "an edit"
    return "safe" if remedy.safe else "by hand"


def _apply(args: argparse.Namespace, failed: set[str]) -> None:
    """Makes what the rules for the failed checks name; what they cannot do is left to the caller, in words."""
    from skyrl_doctor.cli.session import advice_of
    from skyrl_doctor.core.errors import UsageError
    from skyrl_doctor.core.model import Role
    from skyrl_train.node.apply import apply

    for role in (Role.GPU, Role.RUNTIME):
        args.started = time.monotonic()  # the deadline is that of one look
        preparation = advice_of(args, role).prepared.preparation
        cured = sorted({setting.cures for setting in preparation.settings} & failed)
        if not cured:
            continue
        try:
            made = apply(preparation)
        except OSError as error:
            raise UsageError(str(error)) from None
        sys.stdout.write("".join(f"made {path}\n" for path in made))
        sys.stdout.write(f"for {', '.join(cured)}, in the shell that starts the job: {EVAL.format(role)}\n")
        failed -= set(cured)
    if failed:
        sys.stdout.write(f"left to you: {', '.join(sorted(failed))}\n")
