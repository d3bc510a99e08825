"""skyrl-doctor env: prints the variables that this node needs, for a shell's eval or for a Slurm TaskProlog."""

import argparse

from skyrl_doctor.cli.options import add_examination
from skyrl_train.contracts.screen import print_exact, print_note


def arguments(parser: argparse.ArgumentParser) -> None:
    add_examination(parser, judges=False)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--shell", action="store_true", help='print lines for eval "$(skyrl-doctor env)" (default)')
    form.add_argument(
        "--taskprolog",
        action="store_true",
        help="print lines for Slurm's TaskProlog, and create the directories and files that the variables name",
    )


def run(args: argparse.Namespace) -> int:
    from skyrl_doctor.cli.session import advice_of
    from skyrl_doctor.core.errors import UsageError
    from skyrl_train.node.apply import apply, moved
    from skyrl_train.node.render import shell, taskprolog

    advice = advice_of(args)
    for text in (*advice.prepared.refusals, *advice.unknown):
        print_note(f"skyrl-doctor env: skipped: {text}")
    preparation = advice.prepared.preparation
    if args.taskprolog:
        try:
            if args.bundle is None:
                preparation = moved(preparation)
                apply(preparation)
        except OSError as error:
            raise UsageError(str(error)) from None
        print_exact(taskprolog(preparation))
    else:
        print_exact(shell(preparation))
    return 0
