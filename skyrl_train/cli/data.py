"""`skyrl-train data`: data sets as published into what verl reads, and what is wrong with them."""

import argparse

from skyrl_train.cli import data_convert, data_inspect, data_oracle


def arguments(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="data_command", required=True, metavar="WHAT")
    for name, module, summary in (
        ("convert", data_convert, "rows of R2E-Gym or SWE-bench to verl's columns"),
        ("inspect", data_inspect, "what a data set holds"),
        ("validate", data_inspect, "every row that verl or the agent would stumble over"),
        ("oracle", data_oracle, "whether gold patches score 1 and empty ones 0, on a sample"),
    ):
        sub = commands.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        module.arguments(sub)
        sub.set_defaults(data_run=getattr(module, name))


def run(args: argparse.Namespace) -> int:
    return int(args.data_run(args))
