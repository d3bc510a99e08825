"""skyrl-doctor report: writes one HTML page about a job, a preflight or a diagnosis."""

import argparse
import os

from skyrl_train.contracts.screen import print_line

DEFAULT = "report.html"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source",
        metavar="SOURCE",
        help="a job directory, a recording or bundle of `record`, the JSON of preflight or diagnose, or a log",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", default=DEFAULT, help=f"the page to write (default: {DEFAULT}, here)"
    )
    parser.add_argument(
        "--config",
        action="append",
        default=[],
        metavar="FILE",
        help="configuration of the run: adds its settings and findings to the cause (default: the one that a job directory or a recording holds)",
    )
    parser.epilog = "The page needs nothing else: no network, no script. Secrets are replaced by tokens."


def run(args: argparse.Namespace) -> int:
    import dataclasses
    from datetime import UTC, datetime

    from skyrl_doctor.bundle import redactor_of, targets_in
    from skyrl_doctor.cli.session import write_report
    from skyrl_doctor.html.clean import cleaned
    from skyrl_doctor.html.page import render
    from skyrl_doctor.html.recorded import examine_recording
    from skyrl_doctor.html.subject import read_subject
    from skyrl_train.contracts.version import VERSION

    subject = read_subject(args.source, args.config)
    if subject.machine:
        found = examine_recording(subject.machine, subject.job, args.config or targets_in(subject.machine))
        subject = dataclasses.replace(subject, examined=(found, *subject.examined))
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    page = render(cleaned(subject, redactor_of(args.source, os.environ)), made=f"skyrl-doctor {VERSION}, {when}")
    write_report(args.output, page)
    print_line(f"wrote {args.output} ({len(page.encode()) / 1e6:.2f} MB)")
    return 0
