"""How a program says at the end of its log that it came to its end, and the small commands that a script does without."""

import re

from skyrl_doctor.logs.match.errors import matches_error
from skyrl_doctor.logs.read.levels import Level, parse_header

_SUCCESS = re.compile(
    r"(?i)^\W*(?:all )?(?:jobs? |tasks? |runs? |scripts? |everything )?(?:is |are |was )?(?:done|finished|completed?|success(?:ful(?:ly)?)?)\b[^\w%]*$"
    r"|\b(?:completed?|finished|ended|done|built|saved|exported|created|trained|uploaded|installed|written) successfully\b|\bsuccessfully (?:completed|finished|ended|built|saved|exported|created|trained|uploaded|written)\b"
    r"|\bexit(?:ed|s)? (?:with )?(?:the )?(?:code|status)[ :=]{1,3}0\b(?!\.\d)|\bCOMPLETED {1,30}0:0\b|^INFO: {1,8}Build complete: \S|\bSuccessfully completed\.\s*$|训练完成|\bFinished server process \[\d"
    r"|^(?:\[[^\]\n]{1,40}\] {1,3})?(?:ALL |All )(?:DONE|done|finished|completed?)\b[.!:]"
    r"|\b(?:training|fine-?tuning|evaluation|inference|generation|job|run) (?:is |was )?(?:complete|completed|finished|done)\b(?! \w)"
)
_DENIED = re.compile(r"(?i)\b(?:not|never|without|un(?:successful\w*|finished|done)|fail\w*|errors?|0 of|no )\b")
_DOES_WITHOUT = re.compile(
    r"(?:[\w./~+-]{1,200}: (?:line )?\d{1,6}: )?(?:/bin/|/usr/bin/)?(?:cd|rm|rmdir|ls|cp|mv|mkdir|ln|cat|chmod|chown|touch|du|find|grep|which|source|\.|module|ml|ulimit|export|tput|stty|modulecmd|ps|pkill|kill|groups|whoami|hostname|conda|nvidia-smi|nvcc|numactl|lscpu): "
    r"|Lmod has detected the following error: "
)
"""Commands that prepare a run, or look at the machine. Without the program itself no run ends well."""
_PASSED_OVER = re.compile(r"\+{1,4} (?:true|:|exit 0|echo\b.*)\s*$")
"""What a shell that traces its commands writes after `a command || true`."""


def is_success(text: str) -> bool:
    """Whether one of the last lines of a log says that its program came to its end."""
    header = parse_header(text)
    if header.level in (Level.WARNING, Level.ERROR, Level.FATAL) or matches_error(text):
        return False
    message = text[header.end :]
    return _SUCCESS.search(message) is not None and _DENIED.search(message) is None


def is_dispensable(text: str) -> bool:
    """Whether a script may come to its end without the command that failed."""
    return _DOES_WITHOUT.match(text) is not None


def is_passed_over(text: str, below: str) -> bool:
    """Whether a script says in the line below that it does without the command that failed."""
    return is_dispensable(text) and _PASSED_OVER.match(below) is not None
