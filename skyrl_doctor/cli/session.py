"""Runs an examination from parsed arguments and writes its report."""

import argparse
import errno
import os
import stat
import sys
from typing import TYPE_CHECKING

from skyrl_doctor.cli.options import split_lists
from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.core.model import Role, Severity
from skyrl_doctor.examination import Options, prepare, run, run_all
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.report.formats import render, render_batch
from skyrl_doctor.report.lines import View
from skyrl_doctor.report.model import Batch, Report
from skyrl_train.contracts import files
from skyrl_train.contracts.screen import columns

if TYPE_CHECKING:
    from skyrl_doctor.advice import Advice


def options_of(args: argparse.Namespace) -> Options:
    return Options(
        targets=targets_of(args),
        roles=None if args.role == "auto" else frozenset({Role(args.role)}),
        selected=split_lists(args.select),
        ignored=split_lists(args.ignore),
        waiver_file=args.waivers,
        settings_file=args.settings_file,
        fail_on=Severity[args.fail_on.upper()],
        deadline_s=args.deadline,
        started=args.started,
        structure_only=getattr(args, "structure_only", False),
        verl_version=args.verl_version,
        is_one_of_many=bool(getattr(args, "node_report", None)),
    )


def targets_of(args: argparse.Namespace) -> tuple[str, ...]:
    """The targets; without any, the configuration that the recording of --from holds."""
    if args.targets or args.bundle is None:
        return tuple(args.targets)
    from skyrl_doctor.cli.copied import configuration_in

    return configuration_in(args.bundle)


def machine_of(args: argparse.Namespace) -> Machine:
    """This machine, or the recording of --from."""
    if args.bundle is None:
        return LocalMachine()
    from skyrl_doctor.machine.recorded import RecordedMachine

    return RecordedMachine.load(args.bundle)


def examine(args: argparse.Namespace) -> Report:
    """Runs the examination. On a terminal it shows the probes that still run."""
    if getattr(args, "nodes", False):
        from skyrl_doctor.nodes.examine import all_nodes

        return all_nodes(args, os.environ)
    from skyrl_doctor.report.progress import progress

    with progress(enabled=args.format in ("auto", "text")) as observe:
        return run(machine_of(args), LocalMachine(), options_of(args), observe=observe)


def examine_runs(args: argparse.Namespace) -> Report | Batch:
    """Examines the run, or each of the runs, that the targets describe."""
    if len(targets_of(args)) < 2 or getattr(args, "nodes", False) or args.node_report:
        return examine(args)
    from skyrl_doctor.report.progress import progress

    with progress(enabled=args.format in ("auto", "text")) as observe:
        batch = run_all(machine_of(args), LocalMachine(), options_of(args), observe=observe)
    return batch.reports[0] if len(batch.reports) == 1 and not batch.refused else batch


def advice_of(args: argparse.Namespace, role: Role | None = None) -> "Advice":
    """The settings that this machine needs in this role. Without a role: runtime if that is its only role, else gpu."""
    from skyrl_doctor.advice import advise

    machine = machine_of(args)
    options = options_of(args)
    try:
        context = prepare(machine, LocalMachine(), options)
        guessed = Role.RUNTIME if context.roles.roles == {Role.RUNTIME} else Role.GPU
        return advise(context.gathering(options), context.plan, role or guessed)
    finally:
        machine.close()


def publish(report: Report | Batch, args: argparse.Namespace, *, in_full: bool = False) -> None:
    """Writes the report to the file of --output, or to stdout. `in_full` gives each finding a block, as -v does."""
    view = View(verbose=args.verbose, quiet=args.quiet, skips=args.show_skips, blocks=in_full)
    if args.output is None and args.format == "auto" and sys.stdout.isatty():
        from skyrl_doctor.report import terminal

        terminal.show(report, view)
        return
    text = _rendered(report, args.format, view)
    if args.output is not None:
        write_report(args.output, text)
    else:
        sys.stdout.write(text)
        sys.stdout.flush()


def _rendered(report: Report | Batch, format_name: str, view: View) -> str:
    if format_name in ("auto", "text"):
        from skyrl_doctor.report import text

        if isinstance(report, Batch):
            return text.render_batch(report, view, columns())
        return text.render(report, view, columns())
    return render_batch(report, format_name) if isinstance(report, Batch) else render(report, format_name)


def write_report(path: str, text: str) -> None:
    """Writes a file by rename, so a reader sees the old text or the new one. Links stay; devices and FIFOs are opened."""
    try:
        target = files.target_of_own_link(path)
        if os.path.exists(target) and not os.path.isfile(target):  # /dev/stdout leads to a pipe, which has no path
            _write_through(target, text)
        else:
            files.write_whole(target, text)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def _write_through(path: str, text: str) -> None:
    own = 0 if path.startswith("/proc/") else os.O_NOFOLLOW  # a link that was planted meanwhile may lead to a device
    descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK | own)  # a FIFO without a reader is an error, not a wait
    os.set_blocking(descriptor, True)
    with open(descriptor, "w", encoding="utf-8") as stream:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.ESTALE, "it was replaced by a file", path)
        stream.write(text)
