"""skyrl-doctor diagnose: finds the root cause in a job's logs. Exit status 0: no error, 1: an error was found."""

import argparse
import dataclasses
import sys
from typing import TYPE_CHECKING

from skyrl_train.contracts.screen import columns, fitted, limit, print_lines, print_note

if TYPE_CHECKING:
    from skyrl_doctor.logs.cause.root_cause import Diagnosis

WIDEST = 100
FOUND, UNREADABLE = 1, 2


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="+", metavar="PATH", help="logs of one job: files, directories, globs, - for standard input"
    )
    parser.add_argument(
        "--config",
        action="append",
        default=[],
        metavar="FILE",
        help="configuration of the run, as for preflight: adds its settings and findings to the cause",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    parser.epilog = (
        "Exit status: 0 no error found, 1 a known or an unknown error found, 2 a log is unreadable or empty."
    )


def run(args: argparse.Namespace) -> int:
    import os
    import time

    from skyrl_doctor.cli.advised import advised_data, advised_lines, advisories_of_log
    from skyrl_doctor.logs.diagnose import diagnose
    from skyrl_doctor.logs.show import data
    from skyrl_doctor.machine.redact import Redactor
    from skyrl_doctor.report.json import encode

    found = diagnose(args.paths, site_s=time.localtime().tm_gmtoff)
    redact = Redactor.of(os.environ)
    for reason in found.unread:
        print_note(redact(f"skyrl-doctor diagnose: {reason}"))
    if not found.read:
        return UNREADABLE
    if len(found.empty) == len(found.read):
        print_note(
            f"skyrl-doctor diagnose: no output in {', '.join(found.empty)}: an empty log does not show whether the run is healthy"
        )
        return UNREADABLE
    diagnosis, configured, plan = found.diagnosis, tuple[str, ...](), None
    if args.config:
        from skyrl_doctor.configured import read_configured
        from skyrl_doctor.machine.local import LocalMachine

        run_config = read_configured(LocalMachine(), args.config, diagnosis)
        plan, configured = run_config.plan, run_config.lines
        diagnosis = dataclasses.replace(diagnosis, dialect=plan.dialect)
    advised = advisories_of_log(found.versions, diagnosis, plan) if found.versions else ()
    if args.format == "json":
        sys.stdout.write(encode({**data(diagnosis, redact), **advised_data(advised)}))
    else:
        from skyrl_doctor.logs.show import text

        lines = text(diagnosis, _page(diagnosis), redact, len(found.read), configured, min(columns(), WIDEST))
        print_lines(fitted((*lines, *advised_lines(advised)), limit()))
    if found.diagnosis.root or found.diagnosis.unknown:
        return FOUND
    return UNREADABLE if found.unread else 0


def _page(diagnosis: "Diagnosis") -> str:
    """The page of the root cause's failure; empty where its own remedy is printed instead."""
    from skyrl_doctor.catalogue import catalogue
    from skyrl_doctor.core.registry import find_check
    from skyrl_doctor.found_by import page

    root = diagnosis.root
    if root is None or root.failure.id is None or root.failure.signature.remedy:
        return ""
    return page(catalogue().find(root.failure.id), find_check(root.failure.id))
