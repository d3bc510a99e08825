"""skyrl-doctor completion: prints the script that completes commands, options and failures in a shell."""

import argparse

from skyrl_train.contracts.completion import SHELLS, script
from skyrl_train.contracts.screen import print_exact


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="your shell")
    parser.epilog = (
        'For bash, put this line into ~/.bashrc: eval "$(skyrl-doctor completion bash)". '
        "For fish: skyrl-doctor completion fish > ~/.config/fish/completions/skyrl-doctor.fish"
    )


def run(args: argparse.Namespace) -> int:
    from skyrl_doctor.catalogue import catalogue
    from skyrl_doctor.cli.app import SKYRL_DOCTOR

    entries = catalogue().entries
    ids, slugs = [entry.id for entry in entries], [entry.slug for entry in entries]
    print_exact(script(SKYRL_DOCTOR, args.shell, {"explain": [*ids, *slugs], "fix": ids}))
    return 0
