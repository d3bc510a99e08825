"""The entry point of skyrl-train."""

import sys


def main() -> int:
    from skyrl_train.cli import streams
    from skyrl_train.cli.app import dispatch

    return streams.run("skyrl-train", lambda: dispatch(sys.argv[1:]))


if __name__ == "__main__":
    sys.exit(main())
