"""The options that preflight, gate, fix and env share."""

import argparse

from skyrl_doctor.report.formats import FORMATS

ROLES = ("auto", "login", "runtime", "gpu")


def add_examination(parser: argparse.ArgumentParser, *, targets: bool = True, judges: bool = True) -> None:
    """Adds the options of an examination. A command that does not judge hides those of a verdict."""

    def of_verdict(text: str) -> str:
        return text if judges else argparse.SUPPRESS

    if targets:
        parser.add_argument(
            "targets",
            nargs="*",
            metavar="TARGET",
            help="configuration: run.toml, verl script or command line, prime-rl TOML, SkyRL script, or SkyRL-agent's dev.conf with its task YAML",
        )
    parser.add_argument("--role", choices=ROLES, default="auto", help="role of this machine (default: auto, guessed)")
    parser.add_argument(
        "--select", action="append", default=[], metavar="ID,…", help="run only these checks: ids, slugs or families"
    )
    parser.add_argument(
        "--ignore", action="append", default=[], metavar="ID,…", help="skip these checks: ids, slugs or families"
    )
    add_versions(parser)
    parser.add_argument("--waivers", metavar="FILE", help=of_verdict("TOML file with a [waivers] table"))
    parser.add_argument(
        "--settings",
        metavar="FILE",
        help="settings of the doctor; none ignores them (default: skyrl-doctor.toml here or in the repository)",
    )
    parser.add_argument(
        "--fail-on",
        choices=("error", "warning"),
        default="error",
        help=of_verdict("lowest severity that fails the verdict (default: error)"),
    )
    parser.add_argument(
        "--from",
        dest="bundle",
        metavar="DIR",
        help="examine this recording or bundle, and the configuration in it, instead of this machine",
    )
    parser.add_argument(
        "--deadline",
        type=parse_seconds,
        default=30.0,
        metavar="S",
        help="time limit in seconds for all checks together (default: 30)",
    )


def add_structure_only(parser: argparse.ArgumentParser) -> None:
    """Adds the option that leaves the machine out."""
    parser.add_argument(
        "--structure-only",
        action="store_true",
        help="check only the configuration, not the machine: for a laptop",
    )


def add_versions(parser: argparse.ArgumentParser) -> None:
    """Adds the options for the versions of programs that are not installed here."""
    parser.add_argument(
        "--verl-version",
        metavar="V",
        help="release of verl that the run uses, such as 0.9.0 (default: the installed one, a checkout around the script, "
        "or the newest release that knows the keys)",
    )


def add_nodes(parser: argparse.ArgumentParser) -> None:
    """Adds the options for a Slurm job of several nodes."""
    parser.add_argument("--nodes", action="store_true", help="examine and compare all nodes of this Slurm job")
    parser.add_argument(
        "--step",
        metavar="CMD",
        help="command that starts one task on each node; the doctor adds its own arguments (default: srun)",
    )
    parser.add_argument(
        "--node-dir",
        metavar="DIR",
        help="directory for the nodes' reports, shared by all nodes (default: nodes in the job directory)",
    )
    parser.add_argument("--node-report", metavar="DIR", help=argparse.SUPPRESS)
    parser.add_argument("--clock", type=int, default=0, metavar="PORT", help=argparse.SUPPRESS)


def add_report(parser: argparse.ArgumentParser) -> None:
    """Adds the options for the report."""
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default="auto",
        help="format of the report (default: auto, which is text, with colour on a terminal)",
    )
    parser.add_argument("--output", metavar="F", help="write the report to this file in one step")
    amount = parser.add_mutually_exclusive_group()
    amount.add_argument(
        "-v", "--verbose", action="store_true", help="print each finding in full, and the passed and skipped checks"
    )
    amount.add_argument("-q", "--quiet", action="store_true", help="print only findings and unknown checks")
    parser.add_argument("--show-skips", action="store_true", help="also print why each skipped check was skipped")


def parse_seconds(text: str) -> float:
    value = float(text)
    if not 0 < value <= 3600:
        raise argparse.ArgumentTypeError(f"{text}: expected more than 0 and at most 3600 seconds")
    return value


def split_lists(values: list[str]) -> tuple[str, ...]:
    """`--select A,B --select C` as one tuple."""
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())
