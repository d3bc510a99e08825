"""The entry point of the command. `--version` works before anything else is imported."""

import os
import sys
import time


def main() -> int:
    from skyrl_train.contracts import streams

    return streams.run("skyrl-doctor", lambda: _command(sys.argv[1:]))


def _command(words: list[str]) -> int:
    if words == ["--version"]:
        from skyrl_train.contracts.version import VERSION

        sys.stdout.write(f"skyrl-doctor {VERSION}\n")
        return 0
    from skyrl_doctor.cli.app import dispatch

    return dispatch(words, age_s=_age_s())


def _age_s() -> float:
    """Age of this process in seconds. A --deadline counts from the start of the process."""
    from skyrl_train.contracts.proc_stat import parse_stat

    try:
        with open("/proc/self/stat", "rb") as file:
            started = parse_stat(file.read()).started
        return time.clock_gettime(time.CLOCK_BOOTTIME) - started / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, AttributeError):  # not Linux
        return 0.0


if __name__ == "__main__":
    sys.exit(main())
