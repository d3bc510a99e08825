"""The phrases that tell a report from advice, an error from a warning, a step, and the end of a run."""

import re

from skyrl_train.contracts.run_log import CAUSE

_ADVICE_BEFORE = re.compile(
    r"(?i)\b(?:consider|try|make sure|in case(?: of)?|to (?:avoid|prevent|fix|debug|reduce)|avoid(?:s|ing)?|prevent(?:s|ing)?"
    r"|if|when(?:ever)? you|(?:may|might|could)(?! not)|can (?:be|cause|lead|result)|possibl[ey]|usually|often|sometimes"
    r"|such as|e\.g\.|for example|hint|tip|note that|known issue|(?:common|possible|likely) (?:causes?|reasons?)|instead of|no longer|without)\b[^.!?;]*$"
)
"""Words that make the rest of their sentence advice."""
_LEVELS = re.compile(r"\b(?:INFO|DEBUG|TRACE)\b|\blevel=(?:info|debug)\b")
_ADVICE_AFTER = re.compile(
    r"(?i)^\W*(?:errors?|issues?|failures?|exceptions?)?\W{0,3}(?:(?:can|may|might|could|would|should)(?! not|not|n't)|is handled|are handled)\b"
)
_ADVICE_OPENS = re.compile(r"(?i)^.{0,80}\b(?:hint|tip|note|troubleshooting|faq|docs?)\s?:")

# The line with which skyrl-train ends a run names the cause. The next line, of Slurm, only reports the end.
_TRAINER_END = (
    rf"\bskyrl-train (?:runtime(?: serve)?: |train: (?:{CAUSE}|refused: )|job: (?:trainer|runtime): "
    r"(?!done\b|stopped by signal \d+(?:$|: the \w+ job ended: (?:done|stopped))|the \w+ (?:has ended|ended with))\S)"
)
_ERRORS = (
    r"^\s{0,3}(?:\(\w+ pid=\d+\) )?(?:[A-Za-z_]\w*\.){0,6}(?:[A-Z]\w*(?:Error|Exception|Interrupt|Timeout|Failure)|StopIteration|AssertionError|SystemExit)(?::|$)",
    r"\b(?:ERROR|FATAL|CRITICAL|PANIC)\b|\blevel=(?:error|fatal|panic)\b|['\"]level(?:name)?['\"]: ?['\"](?:error|fatal|critical|panic)['\"]",
    r"^(?:[\w./-]+(?:\[\d+\])?: ){0,3}(?:line \d+: )?(?:fatal |internal )?(?:error: |Error: |fatal: |Fatal: |panic: )",
    r"Segmentation fault|core dumped|Core dumped|\bBus error\b|terminate called|Fatal Python error|\bCheck failed: |\bSIG(?:SEGV|BUS|ABRT|KILL|ILL)\b|\*\*\* Process received signal|double free|\bKilled\s*$|: line \d+: +\d+ (?:Killed|Aborted)\b",
    r"(?:command not found|cannot execute binary file|Exec format error|No such file or directory)\s*$",
    r"\bthread .{0,80} panicked at\b|\bhave not registered within the timeout\b|\bUnhandled exception\b",
    r"[\w.]+(?:Error: |Exception: )\S|^Failed to (?:obtain|initiali[sz]e) [^:\n]{1,80}: ",
    r"\bexec user process caused\b|: exec format error\b|^(?:[a-z_]\w*\.){1,6}Timeout(?:Expired)?: ",
    r"\w\.(?:errors?|exceptions?)\.[A-Z]\w{2,60}: |^(?:docker: )?Error response from daemon: |^\((?:autoscaler|scheduler) \+\S{1,12}\) Error: |^OMP: Error #",
    _TRAINER_END,
    r"^(?:In '[^'\n]{1,200}': )?Could not (?:override|find) '|^Key '[^'\n]{1,200}' is not in struct",
    r"^Error (?:(?:start|creat|load|initiali[sz]|connect|process|handl|sav)ing|in|while|during) [^:\n]{1,80}: |\b\d{1,4} validation errors? for \w",
)
ERROR = "|".join(f"(?:{part})" for part in _ERRORS)
"""Lines that look like errors, known or unknown."""
ERRORS = _ERRORS

_HANDLED = re.compile(r"(?i)\bskipp(?:ed|ing)\b|\bfall(?:ing|s)? ?back\b|\bexpected\b|\brecovered\b|\bhandled\b")
_EXCEPTION = re.compile(
    r"^(?:\[\w{1,20}\]: ?)?(?:[A-Za-z_]\w*\.){0,6}[A-Z]\w*(?:Error|Exception|Interrupt|Failure|Exit)(?::|$)"
)
"""A line that begins with an exception is an error, also where it says what was expected."""
STEPS = (r"(?:^|[\s)\]])step:\d{1,12} - ", r"\bStep \d{1,12} \| Time: ")
"""The end of a training step, as verl and prime-rl log it."""

RAY_BELOW_ERROR = re.compile(r"^\[\d{4}-\d\d-\d\d [\d:,.]+ [IWD] \d+ \d+\]")
"""A line of Ray's C++ code below the level of an error. A worker that is stopped on purpose logs alarming words."""

_BENIGN = re.compile(
    rf"\bskyrl-train train: (?!{CAUSE}|refused: )"  # messages of a run that continues
    r"|^\++ \S|\[[\w./-]+:\d+\] {2,}\S|(?i:\berror[ _-](?:handl\w+|codes?(?!:? [1-9])|logs?|files?|counts?|rates?|recovery|correction)\b)|Exception ignored in|\b(?:INFO|DEBUG|TRACE|WARN|WARNING|NOTICE)\b|\bW\d{4} |level=(?:info|debug|warning)|\bwarnings?\.warn\b|\w+Warning:"
    r"|(?i:\bretry\b|\bretries\b|\bretrying\b|\bretried\b|\bignor(?:e|ed|ing)\b)"
    r"|(?i:\b(?:0|no|zero|without) (?:\w+ )?errors?\b|errors?\W{1,4}(?:0\b|none\b|null\b|false\b|\[\]|\{\}))|dependency resolver|Unable to write (?:system|container|image) event|^Error executing job with overrides"
    r"|\bError(?: response from daemon)?: [Nn]o (?:such (?:object|container|pod|volume|image)|(?:container|pod|volume) with (?:name|ID))"  # asked during clean-up
    r"|\bslurmstepd: error: .{0,80}\brmdir\b|^\W*[Ww]arning: "
    rf"|{RAY_BELOW_ERROR.pattern}|\bRAY_DRIVER_FAILURE\b"
    r"|^\W*(?:PASSED|FAILED|ERROR|XFAIL|SKIPPED) \S+::|EXECUTION RESULT of|(?i:\bobservation\b)|^\s*(?:except|raise|class|import|from|def|if|assert|return|#)\b|<(?:function|parameter)=|--?\w*error\w*=|\b\w*(?:rate|ratio|count|loss|num)\w*/?\w*error"
)

DONE = (
    r"\btraining_complete(?:\.flag)?\b.{0,40}(?:written|created|found|done)|\b[Tt]raining (?:run )?(?:is )?(?:complete|completed|finished|done)(?:$|[^\w ]| [^w])"
    r"|\bRL train(?:er|ing) finished|Final validation metrics|Training Progress: 100%"
    r"|\b(?:[Jj]ob|[Rr]un|[Tt]raining)\b.{0,40}\b(?:completed|finished|ended) successfully|\b[Tt]rain(?:er|ing) (?:job )?exited with (?:code|status) 0\b"
)
"""Lines of a run that came to its end."""

WATCH_PREFIX = b"skyrl-doctor watch: "
"""The start of the lines that the watch writes into a job's log: they mention failures, and report none."""


def is_watch_line(line: bytes) -> bool:
    """Whether the watch wrote the line."""
    return line.lstrip().startswith(WATCH_PREFIX)


def is_advice(before: str, after: str) -> bool:
    """Whether the words between the two texts are part of advice."""
    if _ADVICE_BEFORE.search(before[-300:]) or _ADVICE_OPENS.search(before):
        return True
    return _ADVICE_AFTER.search(after[:60]) is not None


def is_below_warning(head: str, before: str) -> bool:
    """Whether the line has a level below WARNING."""
    return _LEVELS.search(head) is not None or _LEVELS.search(before[-200:]) is not None


_RETRIED = re.compile(rb"(?i)\bretrying\b|\bretry (?:in|after) \d|\bwill (?:be )?retr(?:y|ied)\b")


def is_retried(text: bytes) -> bool:
    """Whether a line announces another try."""
    return _RETRIED.search(text) is not None


def is_error(text: str) -> bool:
    """Whether a line that matches ERROR reports an error: no warning, no retry, no source code."""
    head = text[:2000]
    if _BENIGN.search(head):
        return False
    return _EXCEPTION.search(head) is not None or _HANDLED.search(head) is None


_REPEATED = re.compile(rb"\[repeated (\d{1,6})x across cluster\]")


def count_repeats(text: bytes) -> int:
    """How many lines this one stands for: Ray prints one of many equal lines."""
    match = _REPEATED.search(text)
    return int(match[1]) if match else 1
