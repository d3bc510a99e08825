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
    gravity   of several causes with one id, the gravest is shown, else the first
    refines   entries that the same lines show less exactly
    last_resort  the cause only where no other known failure is, nor an unknown error above; a run that ended well had none
    passing   a last resort after which programs often go on: it explains no unknown exception, wherever that is
    request   says what became of one request: no cause where the server answered many others
    steps     False: counts only before the first training step; True: takes the place of what it refines after one
    remedy    how to fix this cause; without it the page of the failure says so
    keys      settings (dotted names of RunConfig) that decide about this failure; without it, `KEYS` of its file

    `explain` and `remedy` may name groups of the pattern, `{found}`, and settings, `{key:rollout.max_model_len}`.
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
    gravity: int = 0
    refines: tuple[str, ...] = ()
    last_resort: bool = False
    passing: bool = False
    request: bool = False
    steps: bool | None = None
    remedy: str = ""
    keys: tuple[str, ...] = ()
