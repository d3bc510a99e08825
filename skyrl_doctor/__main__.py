"""Where the command starts. `--version` answers before anything else is imported."""

import sys


def main() -> int:
    if sys.argv[1:] == ["--version"]:
        from skyrl_doctor.version import VERSION

        sys.stdout.write(f"skyrl-doctor {VERSION}\n")
        return 0
    from skyrl_doctor.cli.app import dispatch

    return dispatch(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
