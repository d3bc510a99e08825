"""The phrases that tell a report from advice, another try, a step, and the end of a run."""

import re

from skyrl_doctor.logs.read.levels import Level, last_level

_ADVICE_BEFORE = re.compile(
    r"(?i)\b(?:consider|try|make sure|in case(?: of)?|to (?:avoid|prevent|fix|debug|reduce)|avoid(?:s|ing)?|prevent(?:s|ing)?"
    r"|(?<!checking )(?<!determining )if|when(?:ever)? you|(?:may|might|could)(?! not)|can (?:be|cause|lead|result)|possibl[ey]|usually|often|sometimes"
    r"|such as|e\.g\.|for example|hint|tip|note that|known issue|(?:common|possible|likely) (?:causes?|reasons?)|instead of|no longer|without)\b[^.!?;]*$"
)
"""Words that make the rest of their sentence advice."""
_ADVICE_AFTER = re.compile(
    r"(?i)^\W*(?:errors?|issues?|failures?|exceptions?)?\W{0,3}(?:(?:can|may|might|could|would|should)(?! not|not|n't)|is handled|are handled)\b"
)
_ADVICE_OPENS = re.compile(r"(?i)^.{0,80}\b(?:hint|tip|note|troubleshooting|faq|docs?)\s?:")

STEPS = (r"(?:^|[\s)\]])step:\d{1,12} - ", r"\bStep \d{1,12} \| {1,4}(?:Time: |\d[\d.]{0,9}s \|)")
"""The end of a training step, as verl and prime-rl log it."""

DONE = (
    r"\btraining_complete(?:\.flag)?\b.{0,40}(?:written|created|found|done)|\b[Tt]raining (?:run )?(?:is )?(?:complete|completed|finished|done)(?:$|[^\w ]| [^w])"
    r"|\bRL train(?:er|ing) finished|Final validation metrics|Training Progress: 100%"
    r"|\b(?:[Jj]ob|[Rr]un|[Tt]raining)\b.{0,40}\b(?:completed|finished|ended) successfully|\b[Tt]rain(?:er|ing) (?:job )?exited with (?:code|status) 0\b"
    r"|\{'train_runtime': '?\d|^\d{1,6} epochs completed in \d[\d.]{0,12} hours\b"
)
"""Lines of a run that came to its end."""

RUN_START = (
    r"\bvLLM API server version\b|\bStarted a local Ray instance\b|\bConnecting to existing Ray cluster at address\b|\bStarting RL run\b"
    r"|\bSetting OMP_NUM_THREADS environment variable for each process\b|\bwandb: Tracking run with wandb version\b|^usage: [\w./-]{1,100} \[-h\]"
)
"""Lines that a run writes once, when it starts. Only after the end of a run do they begin another one."""

RUN_END = (
    r"\bslurmstepd: error: \*\*\* JOB \d{1,12} ON \S{1,80} CANCELLED AT\b|\bRuntimeError: Engine core initialization failed\b"
    r"|\bApplication shutdown complete\b|\bSet the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace\b"
    r"|\belastic\.multiprocessing\.errors\.ChildFailedError:|\bRuntimeError: Engine process failed to start\b"
    r"|^[\w./-]{1,100}: error: (?:unrecognized arguments|argument |the following arguments)"
    r"|\bwandb\.errors\.(?:\w{1,20}\.)?UsageError: api_key not configured"
)
"""Lines with which a run ends, whether it failed or not."""

OTHER_WAY = r"\b(?:[Ff]alling back to|[Uu]sing) (?:the )?['\"]?[\w./-]{1,80}['\"]? tokenizer (?:as (?:an? )?(?:approximation|fallback)|instead)\b"
"""A line of a program that does without the tokenizer that it did not find."""
OTHER_WAY_AFTER = frozenset(("MOD003", "MOD005"))
"""The failures after which it may say so."""

ANSWERED = b'/completions HTTP/1.1" 200'
"""In a line of a model server that answered a request."""


def is_advice(before: str, after: str) -> bool:
    """Whether the words between the two texts are part of advice."""
    if _ADVICE_BEFORE.search(before[-300:]) or _ADVICE_OPENS.search(before):
        return True
    return _ADVICE_AFTER.search(after[:60]) is not None


def is_below_warning(head: str) -> bool:
    """Whether the last header in the text before a match has a level below WARNING."""
    return last_level(head) is Level.BELOW_WARNING


_RETRIED = re.compile(
    rb"(?i)\bretrying\b|\bretry (?:in|after) \d|\bretry \(\d{1,4}/\d{1,4}\)|\bwill (?:be )?retr(?:y|ied)\b"
)


GIVEN_UP = b" failed runtime_id="
"""Our runtime writes it of a sandbox that it gave up: what its cause says of other tries is over."""


def is_retried(text: bytes) -> bool:
    """Whether a line announces another try."""
    return _RETRIED.search(text) is not None and GIVEN_UP not in text


_TEARDOWN = re.compile(
    r"(?i)\bkilled by signal\b|\bSIG(?:TERM|KILL|INT|ABRT)\b|\bterminat(?:ed|ing|ion)\b|\bdied unexpectedly\b|\bexited unexpectedly\b|\bKilled\s*$|\bAborted\b"
    r"|\bCANCELLED\b|\bEngineDeadError\b|\bengine core .{0,40}died\b|\bworker .{0,80}(?:died|killed|exit(?:s|ed))\b|\bactor .{0,40}died\b|\bshut(?:ting)? ?down\b"
    r"|\bconnection (?:refused|reset|closed|lost)\b|\bBrokenPipe|\bbroken pipe\b|\bConnectionReset|\bCancelledError\b|\bKeyboardInterrupt\b|\bEOFError\b|\bTCPStore\b"
    r"|\bforcing job termination\b|\bjob step aborted\b|\bleaked \w+|\braylet exited\b|\bfailed \(exitcode: -(?:2|6|9|15)\)|\bexit(?:ed)? (?:with )?(?:code|status):? -(?:2|15)\b"
)


_TOLERATED = re.compile(
    rb"(?i)\b(?:proceeding|continuing) without\b|^\W{0,3}ignor(?:e|ed|ing) (?:\w+ )?errors?\b|\] Ignore import error\b|\b(?:WARNING|WARN)\b.{0,120}\bImportError: lib"
    rb"|^.{0,60}\bError retrieving safetensors: |, accepting this combination\b"
    rb"|\.py:\d{1,6}: \w{0,30}Warning: (?:An issue occurred while importing|Failed to (?:load|import)|Could not (?:load|import))"
)


_FALLS_BACK = re.compile(
    rb"(?i)[;,] (?:falling back|using (?:a |the )?(?:local|cached) (?:copy|file|version)|trying (?:a |the )?(?:local|cached?)\b|logging in anonymously)"
)
_IN_VAIN = re.compile(
    rb"(?i)^(?:(?!\b(?:because|since|as|after)\b)[^,;:.()]){0,80}\b(?:(?:im|not )possible|fail(?:ed|s|ure)|not help|disabled|not (?:available|allowed|supported)|unavailable)\b"
)
"""After the words of another way: it leads nowhere."""
_RAISED = re.compile(rb"\s{0,3}(?:\[\w{1,20}\]: ?)?(?:[A-Za-z_]\w{0,60}\.){0,8}[A-Z]\w{0,60}(?:Error|Exception): ")
"""The last line of a traceback: the program did not take another way."""


def is_tolerated(text: bytes) -> bool:
    """Whether a line says that the program does without what failed."""
    if GIVEN_UP in text:
        return False
    if _TOLERATED.search(text):
        return True
    other_way = _FALLS_BACK.search(text)
    return other_way is not None and not _RAISED.match(text) and not _IN_VAIN.search(text[other_way.end() :])


def is_teardown(text: str) -> bool:
    """Whether a line is one that processes write when they are ended from outside."""
    return _TEARDOWN.search(text) is not None


_REPEATED = re.compile(rb"\[repeated (\d{1,6})x across cluster\]")


def count_repeats(text: bytes) -> int:
    """How many lines this one stands for: Ray prints one of many equal lines."""
    match = _REPEATED.search(text)
    return int(match[1]) if match else 1
