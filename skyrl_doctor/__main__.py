"""Where the command starts. `--version` answers before anything else is imported."""

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
    """How long this process lives already: a --deadline counts from where the caller waits."""
    try:
        with open("/proc/self/stat", encoding="utf-8", errors="replace") as file:
            started_ticks = int(file.read().rpartition(")")[2].split()[19])
        return time.clock_gettime(time.CLOCK_BOOTTIME) - started_ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):  # no Linux
        return 0.0


if __name__ == "__main__":
    sys.exit(main())
