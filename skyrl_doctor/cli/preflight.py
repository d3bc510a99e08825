"""skyrl-doctor preflight: runs the checks, prints the report, exits with the verdict."""

import argparse
import os

from skyrl_doctor.cli.options import add_examination, add_nodes, add_report, add_structure_only


def arguments(parser: argparse.ArgumentParser) -> None:
    add_examination(parser)
    add_nodes(parser)
    add_report(parser)
    add_structure_only(parser)
    parser.epilog = (
        "Exit status: 0 pass, 1 fail, 2 bad input, 3 unknown (a check could not run). Several runs are "
        "judged one by one, and the exit status is the worst of them; files that complete each other are one run."
    )


def run(args: argparse.Namespace) -> int:
    from skyrl_doctor.cli.session import examine, examine_runs, publish

    if args.node_report:
        from skyrl_doctor.nodes.examine import send

        send(examine(args), args, os.environ)
        return 0
    report = examine_runs(args)
    publish(report, args)
    return report.code
