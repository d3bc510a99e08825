"""Recognises quotations: output of an agent's commands, text of the model, text of a task.

A failure in a sandbox is the agent's work, and a failure in a task happened to someone else. Neither is the run's failure.
"""

import functools
import re
from enum import Enum

from skyrl_doctor.logs.judge.lookback import Lookback
from skyrl_doctor.logs.read.noise import clean, prefix

SET_UP_FAILURES = frozenset(("IMG006", "IMG007", "RUN006"))
"""Failures of the sandbox itself. They appear in the output of the commands that set it up."""
COMMAND_FAILURES = frozenset(("RUN006",))
"""Those that the output of an agent's commands shows too: it uses the same shell. Missing files and denied writes are
different: agents look for files that never existed, and that says nothing of the sandbox."""


class Voice(Enum):
    """Who wrote a line: the run itself, a command that sets up a sandbox, or an agent with its commands and its task."""

    RUN = 0
    SET_UP = 1
    AGENT = 2


_OPENS = re.compile(
    rb"EXECUTION RESULT of \[|OBSERVATION:|[Oo]bservation:(?:\s|$)|CmdOutputObservation|<(?:issue|pr)_description>|<problem_statement>"
    rb"|<(?:observation|tool_response)>|Observation \xe2\x94[\x80\x81]"
    rb"|\[prompt\]|\[response\]|^<\|im_start\|>|={5,} test session starts|={5,} (?:FAILURES|ERRORS|short test summary)"
    rb"|Exception ignored in|--- Logging error ---|\b(?:agent|rollout|turn|tool)\b[^\n]{0,60} (?:result|output|stdout):\s*$"
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
    b"--- Logging error ---",
    b" result:",
    b" output:",
    b" stdout:",
)
"""Texts of which each match of _OPENS holds one: searching for these takes a tenth of the time."""
_MAX_OPENER = max(map(len, _OPENERS))
_CLOSES = re.compile(
    rb"\[(?:Command finished|The command completed|score\])|finished with exit code|\bstep:\d|^\W{0,4}(?:\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d)"
    rb"|^(?:INFO|WARNING|ERROR|CRITICAL|DEBUG)\b|\d\d:\d\d:\d\d[,.] |</(?:issue|pr)_description>|</problem_statement>|<\|im_end\|>"
    rb"|={3,} .{0,80} in \d[\d.]*s|</(?:observation|tool_response)>|END AGENT OBSERVATION|\bExit code: \d"
    rb"|^(?:srv|slot|main|que) {1,14}[\w()]{1,24}: "  # llama.cpp's server, which quotes the template of its model
)
_SET_UP = re.compile(rb"CmdOutputObservation(?! ?\(source=(?:EventSource\.)?(?i:agent))")
"""OpenHands writes who asked for a command; the commands of the set-up have no source."""
_OWN_CODE = re.compile(
    rb'File "[^"\n]{0,200}/(?:verl|vllm|sglang|lmdeploy|llama_cpp|ray|uvicorn|litellm|openhands|skyrl\w*|prime_rl|verifiers|trl)/'
)
"""A traceback through this code is the run's own, also within a quotation."""
_WITHOUT_END = re.compile(rb"Exception ignored in|--- Logging error ---")
"""Stands above a traceback after which Python goes on: of an exception that it ignores, or of a logger."""
_FRAME = re.compile(rb'\s*File "')
_LOGGING = re.compile(rb'File "[^"\n]{0,200}/(?:logging|loguru)/\w{1,40}\.py"')
"""A frame of what failed to write a line. Python shows the error that was being handled above it: that one is the run's."""
_RAISED = re.compile(rb"^(?:\w+\.)*[A-Z]\w*(?:Error|Exception)\b")
"""The last line of an exception."""
_TRACE = re.compile(rb"\s|Traceback|(?:\w+\.)*[A-Z]\w*(?:Error|Exception)\b")
_INLINE = re.compile(
    rb"""(?:^|[\s\[{(,|>])(?:assistant|[Oo]bservation|OBSERVATION):\s|\b[Gg]enerated (?:answers?|texts?|responses?|outputs?|completions?): ?[\['"]|['"]role['"]: ?['"]|<\|im_start\|>|<function=|\[(?:prompt|response)\]|(?:FAILED|ERROR) \S{1,200}::\S{1,200} - |^\s*(?:[-*>]|\d{1,2}\.) `|^\++ [\w./\['"({:]"""
)
"""The start of a quotation within a line. A shell's trace of its commands is a quotation too."""
_SOURCE = re.compile(
    rb"""\s*(?:# |assert [^\n]{1,300}, ?[fr]?["']|(?:print|warnings\.warn)\([fr]?["']|raise (?:[A-Za-z_]\w*\.)*[A-Z]\w*\(|(?:self\.)?log(?:ger|ging)?\.[a-z]+\([fr]?["'])"""
)
"""A line of Python source: a run that logs its program, or the source line of a frame, reports nothing by it."""
_DOCUMENTED = re.compile(rb"(?:[+-]\s{2,}|\s{4,})(?:\w+\.)*[A-Z]\w*(?:Error|Exception): (?:[Ii]f|[Ww]hen)\b")
"""An exception that a docstring lists, also in a diff: it is indented, and the last line of a traceback is not."""
_OWN_ERROR = re.compile(rb"\b(?:ERROR|CRITICAL|FATAL)\b|Error: ")
"""An error before the quotation: the line reports a failure and quotes what was sent."""
_CACHE_SIZE = 64
_HEAD = 300
_MAX_LINES, _REACH = 120, 1 << 14


class Quotations:
    """Finds who wrote a line, by the quotations of its process. Positions must grow: then no text is searched twice."""

    def __init__(self) -> None:
        self._searched, self._opener = 0, -1

    def voice(self, lookback: Lookback, start: int, process: bytes) -> Voice:
        """Who wrote the line that starts there."""
        if not self._is_near(lookback, start):
            return Voice.RUN
        above = lookback.text(start - _REACH, start).split(b"\n")[:-1]
        lines = [raw for raw in above[: -_MAX_LINES - 1 : -1] if prefix(raw) == process]
        line = clean(lookback.text(start, start + _HEAD).partition(b"\n")[0])
        return _quoted(lines, is_trace=_TRACE.match(line) is not None)

    def _is_near(self, lookback: Lookback, start: int) -> bool:
        """Whether a quotation may open within reach above."""
        first = max(self._searched - _MAX_OPENER, start - _REACH, 0)
        text = lookback.text(first, start)
        last = max(text.rfind(opener) for opener in _OPENERS)
        if last >= 0:
            self._opener = max(self._opener, start - len(text) + last)
        self._searched = max(self._searched, start)
        return self._opener >= start - _REACH


def _quoted(above: list[bytes], *, is_trace: bool) -> Voice:
    """The voice of a line by the lines above it, the nearest first. `is_trace`: the line may belong to a traceback."""
    own, in_trace = False, is_trace
    frames: list[bytes] = []
    for raw in above:
        line = clean(raw)
        if _WITHOUT_END.search(line):
            handled = frames and not any(map(_LOGGING.search, frames)) and b"Exception ignored in" not in line
            return Voice.AGENT if in_trace and not handled else Voice.RUN
        if _FRAME.match(line):
            frames.append(line)
        in_trace = in_trace and _TRACE.match(line) is not None and _RAISED.match(line) is None
        line = line.strip()
        opens, closes = _last(_OPENS, line), _last(_CLOSES, line)
        if opens >= 0 and opens >= closes:
            return Voice.RUN if own else Voice.SET_UP if _SET_UP.search(line) else Voice.AGENT
        if closes >= 0:
            return Voice.RUN
        own = own or _OWN_CODE.search(line) is not None
    return Voice.RUN


def _last(regex: re.Pattern[bytes], line: bytes) -> int:
    return max((found.start() for found in regex.finditer(line)), default=-1)


@functools.lru_cache(_CACHE_SIZE)
def is_quoted(text: bytes, at: int) -> bool:
    """Whether the text at this position of a line is quoted in it, or in the source code that it is."""
    if _SOURCE.match(text):
        return True
    found = _INLINE.search(text, 0, at)
    return found is not None and _OWN_ERROR.search(text, 0, found.start()) is None


def is_documented(text: bytes) -> bool:
    """Whether the line is one of a docstring, which lists an exception."""
    return _DOCUMENTED.match(text) is not None


def counts_as_evidence(name: str, voice: Voice, text: bytes, at: int) -> bool:
    """Whether the words of a failure at this position are evidence of it, given who wrote the line."""
    if voice is Voice.AGENT or is_quoted(text, at):
        return name in COMMAND_FAILURES
    return voice is Voice.RUN or name in SET_UP_FAILURES
