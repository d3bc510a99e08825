"""The entry point of skyrl-train."""

import sys


def main() -> int:
    from skyrl_train.cli.app import dispatch
    from skyrl_train.contracts import streams

    return streams.run("skyrl-train", lambda: dispatch(sys.argv[1:]))


if __name__ == "__main__":
    sys.exit(main())
