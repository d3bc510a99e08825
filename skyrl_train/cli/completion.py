"""skyrl-train completion: prints the script that completes commands and options in a shell."""

import argparse

from skyrl_train.contracts.completion import SHELLS, script
from skyrl_train.contracts.screen import print_exact


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="your shell")
    parser.epilog = (
        'For bash, put this line into ~/.bashrc: eval "$(skyrl-train completion bash)". '
        "For fish: skyrl-train completion fish > ~/.config/fish/completions/skyrl-train.fish"
    )


def run(args: argparse.Namespace) -> int:
    from skyrl_train.cli.app import SKYRL_TRAIN

    print_exact(script(SKYRL_TRAIN, args.shell, {}))
    return 0
