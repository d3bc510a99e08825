"""skyrl-doctor preflight: examine, report, exit with the verdict."""

import argparse

from skyrl_doctor.cli.options import add_examination, add_report


def arguments(parser: argparse.ArgumentParser) -> None:
    add_examination(parser)
    add_report(parser)
    parser.add_argument(
        "--structure-only",
        action="store_true",
        help="judge the configuration alone, and look at no machine: for a laptop",
    )


def run(args: argparse.Namespace) -> int:
    from skyrl_doctor.cli.session import examine, publish

    report = examine(args)
    publish(report, args)
    return report.code
