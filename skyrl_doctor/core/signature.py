"""What a failure looks like in a log: a pattern for one line, the part that the line plays, and a real sample of it.

Signatures are in the file of their failure (`SIGNATURES`). Patterns are compiled only where logs are read.
"""

from enum import StrEnum

from skyrl_doctor.core.record import record


class Part(StrEnum):
    """What a line says of the failure: its cause, what followed from one, or that it was indeed this one."""

    ROOT = "root"
    CASCADE = "cascade"
    CONFIRMATION = "confirmation"


@record(kw_only=True)
class Signature:
    """A kind of line. The pattern is for `re.search` on one line without colour codes and Ray prefixes.

    near      counts only where this pattern stood within `within` lines before, in the same file
    unless    no match where this pattern stands in the same line
    unless_above  no match where this pattern stands a few lines above, as in the frames of the traceback
    at_least  counts as a cause only when seen that often
    fatal     it ends runs; what is not fatal is the cause only where nothing fatal is
    refines   entries that the same lines show less exactly
    """

    pattern: str
    sample: str
    explain: str
    role: Part = Part.ROOT
    versions: str = ""
    near: str = ""
    within: int = 80
    unless: str = ""
    unless_above: str = ""
    at_least: int = 1
    fatal: bool = True
    refines: tuple[str, ...] = ()
