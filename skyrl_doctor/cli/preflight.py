"""skyrl-doctor preflight: examine, report, exit with the verdict."""

import argparse

from skyrl_doctor.cli.options import add_examination, add_report


def arguments(parser: argparse.ArgumentParser) -> None:
    add_examination(parser)
    add_report(parser)


def run(args: argparse.Namespace) -> int:
    from skyrl_doctor.cli.session import examine, publish

    report = examine(args)
    publish(report, args)
    return report.code
