"""The error with which our own runtime or trainer ended, from the job's log: so the other job can name it."""

import os
import re

from skyrl_train.contracts import bounded
from skyrl_train.contracts.printable import excerpt
from skyrl_train.contracts.run_log import CAUSE
from skyrl_train.launch import directory
from skyrl_train.launch.role import Role

_ERROR = re.compile(
    rf"^skyrl-train (?:runtime(?: serve)?: |train: (?:{CAUSE}|refused: ))(?P<error>\S.{{0,2000}})$", re.MULTILINE
)
_TAIL_BYTES = 1 << 14
_MOST_LETTERS = 300


def payload_error(job_dir: str, role: Role, job_id: str, log_start: int) -> str:
    """The last such error since `log_start`, or an empty text."""
    try:
        log = os.path.join(job_dir, directory.log(role, job_id or directory.LOCAL, "err"))
        text = bounded.read_end(log, start=log_start, most_bytes=_TAIL_BYTES).decode(errors="replace")
    except OSError:
        return ""
    found = [match["error"] for match in _ERROR.finditer(text)]
    return excerpt(found[-1], _MOST_LETTERS) if found else ""
