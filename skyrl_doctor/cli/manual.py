"""skyrl-doctor manual: writes the man pages."""

import argparse

from skyrl_train.contracts.screen import print_line


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", metavar="DIR", help="directory of manuals, such as ~/.local/share/man")


def run(args: argparse.Namespace) -> int:
    from skyrl_doctor.cli.app import SKYRL_DOCTOR
    from skyrl_train.contracts.manual import write

    print_line(
        f"{write(SKYRL_DOCTOR, args.directory)} pages written; read them with: man -M {args.directory} skyrl-doctor"
    )
    return 0
