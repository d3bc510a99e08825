"""The processes that started the doctor, nearest first: a trainer that starts here has the same ones."""

from skyrl_doctor.core.record import record

MOST_ARGUMENTS = 64
LONGEST_ARGUMENT = 200


@record
class Process:
    """A command line is empty for a thread of the kernel, and for a process that nobody may look at."""

    pid: int
    argv: tuple[str, ...]


@record
class Ancestors:
    """Up to the first process, or to the first one that this user is not shown: Ray sees no further either."""

    processes: tuple[Process, ...]


def parse_parent(stat: str) -> int:
    """The parent's id of a line of /proc/PID/stat: `30001 (a (b) c) S 30000 …`; the name may hold anything.

    Raises ValueError.
    """
    _, closed, rest = stat.rpartition(")")
    fields = rest.split()
    if not closed or len(fields) < 2 or not _is_number(fields[1]):
        raise ValueError(f"no line of /proc/PID/stat: {stat[:80]!r}")
    return int(fields[1])


def parse_argv(cmdline: str) -> tuple[str, ...]:
    """/proc/PID/cmdline: arguments that each end with a zero byte, shortened to what a person reads."""
    if not cmdline:
        return ()
    arguments = cmdline.removesuffix("\0").split("\0")[:MOST_ARGUMENTS]
    return tuple(argument[:LONGEST_ARGUMENT] for argument in arguments)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 10
