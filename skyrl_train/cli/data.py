"""`skyrl-train data`: convert published data sets for verl, and check them."""

import argparse

from skyrl_train.cli import data_convert, data_inspect, data_oracle


def arguments(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="data_command", required=True, metavar="WHAT")
    for name, module, summary in (
        ("convert", data_convert, "convert rows of R2E-Gym or SWE-bench to the columns that verl reads"),
        ("inspect", data_inspect, "summarise a data set"),
        ("validate", data_inspect, "list every row that verl or the agent cannot use"),
        ("oracle", data_oracle, "check on a sample that gold patches score 1 and empty patches 0"),
    ):
        sub = commands.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        module.arguments(sub)
        sub.set_defaults(data_run=getattr(module, name))


def run(args: argparse.Namespace) -> int:
    return int(args.data_run(args))
