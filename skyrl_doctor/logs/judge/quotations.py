"""Lines that only repeat what was said elsewhere: output of an agent's commands, what the model wrote, the text of a task.

What fails in a sandbox is the agent's work, and what a task tells of happened to someone else. Neither is the run's failure.
"""

import functools
import re
from enum import Enum

from skyrl_doctor.logs.judge.lookback import Behind
from skyrl_doctor.logs.read.noise import clean, prefix

OF_SET_UP = frozenset(("IMG006", "IMG007", "RUN006"))
"""Failures of the sandbox itself, which show in the output of the commands that set it up."""
OF_ANY_COMMAND = frozenset(("RUN006",))
"""Of these, what an agent's commands show as well: the shell is the same. Agents look for files that never were and write
where nobody may, and that says nothing of the sandbox."""


class Voice(Enum):
    """Who says a line: the run itself, a command that sets up a sandbox, or an agent, its commands, its task."""

    RUN = 0
    SET_UP = 1
    AGENT = 2


_OPENS = re.compile(
    rb"EXECUTION RESULT of \[|OBSERVATION:|[Oo]bservation:(?:\s|$)|CmdOutputObservation|<(?:issue|pr)_description>|<problem_statement>"
    rb"|<(?:observation|tool_response)>|Observation \xe2\x94[\x80\x81]"
    rb"|\[prompt\]|\[response\]|^<\|im_start\|>|={5,} test session starts|={5,} (?:FAILURES|ERRORS|short test summary)"
    rb"|Exception ignored in|\b(?:agent|rollout|turn|tool)\b[^\n]{0,60} (?:result|output|stdout):\s*$"
)
_OPENERS = (
    b"EXECUTION RESULT of [",
    b"OBSERVATION:",
    b"bservation:",
    b"CmdOutputObservation",
    b"<issue_description>",
    b"<pr_description>",
    b"<problem_statement>",
    b"[prompt]",
    b"[response]",
    b"<|im_start|>",
    b"<observation>",
    b"<tool_response>",
    b"bservation \xe2\x94",
    b"test session starts",
    b"= FAILURES",
    b"= ERRORS",
    b"= short test summary",
    b"Exception ignored in",
    b" result:",
    b" output:",
    b" stdout:",
)
"""What each match of _OPENS holds: to look for these takes a tenth of the time."""
_LONGEST = max(map(len, _OPENERS))
_CLOSES = re.compile(
    rb"\[(?:Command finished|The command completed|score\])|finished with exit code|\bstep:\d|^\W{0,4}(?:\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d)"
    rb"|^(?:INFO|WARNING|ERROR|CRITICAL|DEBUG)\b|\d\d:\d\d:\d\d[,.] |</(?:issue|pr)_description>|</problem_statement>|<\|im_end\|>"
    rb"|={3,} .{0,80} in \d[\d.]*s|</(?:observation|tool_response)>|END AGENT OBSERVATION|\bExit code: \d"
)
_OF_SET_UP = re.compile(rb"CmdOutputObservation(?! ?\(source=(?:EventSource\.)?(?i:agent))")
"""OpenHands says who asked for a command, and nobody did for those of the set-up."""
_OWN_CODE = re.compile(rb'File "[^"\n]{0,200}/(?:verl|vllm|sglang|ray|openhands|skyrl\w*|prime_rl|verifiers|trl)/')
"""A traceback through these is that of the run, wherever it stands."""
_RAISED = re.compile(rb"^(?:\w+\.)*[A-Z]\w*(?:Error|Exception)\b")
"""What an exception that Python ignores ends with, beside its traceback."""
_TRACE = re.compile(rb"\s|Traceback|(?:\w+\.)*[A-Z]\w*(?:Error|Exception)\b")
_INLINE = re.compile(
    rb"""(?:^|[\s\[{(,|>])(?:assistant|[Oo]bservation|OBSERVATION):\s|['"]role['"]: ?['"]|<\|im_start\|>|<function=|\[(?:prompt|response)\]|(?:FAILED|ERROR) \S{1,200}::\S{1,200} - |^\s*(?:[-*>]|\d{1,2}\.) `|^\++ [\w./\['"({:]"""
)
"""What stands before words that are quoted in the same line; a shell's trace of its commands is such a quotation too."""
_OWN_ERROR = re.compile(rb"\b(?:ERROR|CRITICAL|FATAL)\b|Error: ")
"""A line that says before the quotation that something failed: it tells of what was sent when it did."""
_SAME = 64
_HEAD = 300
_LINES, _REACH = 120, 1 << 14


class Quotes:
    """Whose words a line holds, by the quotations of its own process. Asked for growing places, it looks at no text twice."""

    def __init__(self) -> None:
        self._looked, self._opener = 0, -1

    def hold(self, behind: Behind, start: int, whose: bytes) -> Voice:
        if not self._is_near(behind, start):
            return Voice.RUN
        above = behind.text(start - _REACH, start).split(b"\n")[:-1]
        lines = [raw for raw in above[: -_LINES - 1 : -1] if prefix(raw) == whose]
        line = clean(behind.text(start, start + _HEAD).partition(b"\n")[0])
        return _quoted(lines, is_trace=_TRACE.match(line) is not None)

    def _is_near(self, behind: Behind, start: int) -> bool:
        """Whether an opener stands within reach."""
        first = max(self._looked - _LONGEST, start - _REACH, 0)
        text = behind.text(first, start)
        last = max(text.rfind(opener) for opener in _OPENERS)
        if last >= 0:
            self._opener = max(self._opener, start - len(text) + last)
        self._looked = max(self._looked, start)
        return self._opener >= start - _REACH


def _quoted(above: list[bytes], *, is_trace: bool) -> Voice:
    """Of the lines above, the nearest first; `is_trace`: the line can be one of a traceback."""
    own, in_trace = False, is_trace
    for raw in above:
        line = clean(raw)
        if b"Exception ignored in" in line:
            return Voice.AGENT if in_trace else Voice.RUN
        in_trace = in_trace and _TRACE.match(line) is not None and _RAISED.match(line) is None
        line = line.strip()
        opens, closes = _last(_OPENS, line), _last(_CLOSES, line)
        if opens >= 0 and opens >= closes:
            return Voice.RUN if own else Voice.SET_UP if _OF_SET_UP.search(line) else Voice.AGENT
        if closes >= 0:
            return Voice.RUN
        own = own or _OWN_CODE.search(line) is not None
    return Voice.RUN


def _last(regex: re.Pattern[bytes], line: bytes) -> int:
    return max((found.start() for found in regex.finditer(line)), default=-1)


@functools.lru_cache(_SAME)
def inline(text: bytes, at: int) -> bool:
    """Whether what stands at this place of a line is quoted in it."""
    found = _INLINE.search(text, 0, at)
    return found is not None and _OWN_ERROR.search(text, 0, found.start()) is None


def tells(name: str, voice: Voice, text: bytes, at: int) -> bool:
    """Whether a line that holds the words of a failure there tells of it, in whosever voice."""
    if voice is Voice.AGENT or inline(text, at):
        return name in OF_ANY_COMMAND
    return voice is Voice.RUN or name in OF_SET_UP
