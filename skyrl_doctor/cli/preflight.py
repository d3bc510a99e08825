"""skyrl-doctor preflight: examine, report, exit with the verdict."""

import argparse
import os

from skyrl_doctor.cli.options import add_examination, add_nodes, add_report


def arguments(parser: argparse.ArgumentParser) -> None:
    add_examination(parser)
    add_nodes(parser)
    add_report(parser)
    parser.add_argument(
        "--structure-only",
        action="store_true",
        help="judge the configuration alone, and look at no machine: for a laptop",
    )


def run(args: argparse.Namespace) -> int:
    from skyrl_doctor.cli.session import examine, publish

    report = examine(args)
    if args.letter:
        from skyrl_doctor.nodes.examine import send

        send(report, args, os.environ)
        return 0
    publish(report, args)
    return report.code
