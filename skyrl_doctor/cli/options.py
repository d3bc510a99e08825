"""The options that preflight, gate, fix and env share."""

import argparse

from skyrl_doctor.report.formats import FORMATS

ROLES = ("auto", "login", "runtime", "gpu")


def add_examination(parser: argparse.ArgumentParser, *, targets: bool = True) -> None:
    """Options that say what to examine and how."""
    if targets:
        parser.add_argument(
            "targets",
            nargs="*",
            metavar="TARGET",
            help="a configuration: RunConfig TOML, dev.conf, task YAML, verl script or command line, prime-rl TOML",
        )
    parser.add_argument(
        "--role", choices=ROLES, default="auto", help="what this machine is in the launch (default: guessed)"
    )
    parser.add_argument(
        "--select", action="append", default=[], metavar="ID,…", help="only these: ids, slugs or families"
    )
    parser.add_argument("--ignore", action="append", default=[], metavar="ID,…", help="all but these")
    parser.add_argument("--waivers", metavar="FILE", help="a TOML with [waivers]")
    parser.add_argument(
        "--fail-on",
        choices=("error", "warning"),
        default="error",
        help="the least severity that counts (default: error)",
    )
    parser.add_argument(
        "--from", dest="bundle", metavar="BUNDLE", help="examine a recorded machine instead of this one"
    )
    parser.add_argument(
        "--deadline", type=seconds, default=30.0, metavar="S", help="seconds for the whole examination (default: 30)"
    )


def add_nodes(parser: argparse.ArgumentParser) -> None:
    """Options for a Slurm job of several nodes."""
    parser.add_argument("--nodes", action="store_true", help="examine every node of this Slurm job, and compare them")
    parser.add_argument(
        "--step",
        metavar="CMD",
        help="what starts one task on each node (default: srun with one task a node); words for the doctor are added",
    )
    parser.add_argument(
        "--node-dir",
        metavar="DIR",
        help="where the nodes write, seen by all of them (default: nodes in the job directory)",
    )
    parser.add_argument("--letter", metavar="DIR", help=argparse.SUPPRESS)
    parser.add_argument("--clock", type=int, default=0, metavar="PORT", help=argparse.SUPPRESS)


def add_report(parser: argparse.ArgumentParser) -> None:
    """Options that say where the report goes."""
    parser.add_argument("--format", choices=FORMATS, default="auto", help="default: text, in colour on a terminal")
    parser.add_argument("--output", metavar="F", help="write the report to this file, whole or not at all")


def seconds(text: str) -> float:
    value = float(text)
    if not 0 < value <= 3600:
        raise argparse.ArgumentTypeError(f"{text}: wanted seconds between 0 and 3600")
    return value


def listed(values: list[str]) -> tuple[str, ...]:
    """`--select A,B --select C` as one tuple."""
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())
