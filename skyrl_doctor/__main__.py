"""Where the command starts. `--version` answers before anything else is imported."""

import io
import sys


def main() -> int:
    if sys.argv[1:] == ["--version"]:
        from skyrl_doctor.version import VERSION

        sys.stdout.write(f"skyrl-doctor {VERSION}\n")
        return 0
    if isinstance(sys.stdout, io.TextIOWrapper):  # a report quotes texts that this locale may not be able to say
        sys.stdout.reconfigure(errors="backslashreplace")
    from skyrl_doctor.cli.app import dispatch

    return dispatch(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
