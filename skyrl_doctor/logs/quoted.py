"""Lines that an agent's own command wrote: what fails in a sandbox is the agent's work, not the run's failure."""

import re

from skyrl_doctor.logs.behind import Behind

_OPENS = b"EXECUTION RESULT of ["
_CLOSES = re.compile(rb"\[Command finished|finished with exit code|\bstep:\d|\d\d:\d\d:\d\d[,. ]")
_LINES, _REACH = 40, 1 << 13


def is_quoted(behind: Behind, start: int) -> bool:
    """Whether the line that begins there stands in a command's output that was printed."""
    above = behind.text(start - _REACH, start)
    opened = above.rfind(_OPENS)
    return opened >= 0 and above.count(b"\n", opened) <= _LINES and not _CLOSES.search(above, opened)
