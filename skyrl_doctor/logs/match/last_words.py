"""How a failed run ends that writes no level: an exit status, a signal, or a plain sentence.

In the middle of a log such words mean little. In its last lines they are all that is left of the cause.
"""

import re

from skyrl_doctor.logs.match.errors import Weight, is_of_shell, is_quotation, matches_error
from skyrl_doctor.logs.match.phrases import is_advice
from skyrl_doctor.logs.read.levels import Level, parse_header

LINES = 6
"""So many lines at the end of a file are searched, without empty ones."""
SENTENCES = 3
"""In so many of them a sentence about a failure counts."""
_NUMBER = r"(?:-[1-9]\d{0,9}|(?!20\d\b)[1-9]\d{0,9})(?=\W*$|[)\]},;:'\"]|\.(?!\d)| [(\[]| (?:after|and|at|for|from|in|on|while|with)\b)"
"""A status other than 0, and other than that of an HTTP answer that went well. No count of things follows it."""
_STATUS = re.compile(
    rf"(?i)\b(?:exit[ _-]?(?:ed |ed with |ed with the )?(?:code|status|value)?|return[ _-]?(?:ed |ed with |ed with the )?(?:code|status))\b\W{{0,4}}(?:is |was )?{_NUMBER}"
    rf"|\b(?:exit(?:ed|s)?|terminat\w+|finish\w*|fail\w*|died|complet\w*|return\w*|subprocess)\b[^\n]{{0,60}}\b(?:code|status|returncode)\W{{0,4}}{_NUMBER}"
    rf"|\b(?:Exited |\(failed ){_NUMBER}\)|\bExited \({_NUMBER}\)|\brc ?= ?{_NUMBER}|\b(?:State|Status|Result)\W{{1,12}}(?:FAILED|OUT_OF_MEMORY|NODE_FAIL|TIMEOUT|ERROR)\b|\s(?:FAILED|OUT_OF_ME\+?) {{1,30}}\d{{1,3}}:\d"
)
_SIGNAL = re.compile(
    r"(?:^|\W|s/it)(?:[Kk]illed|Terminated|Aborted|Hangup|Alarm clock|Quit)(?:: \d{1,2})?\s*$|: line \d{1,6}: {1,4}\d{1,9} (?:Terminated|Hangup|Quit)\b"
    r"|^\[\d{1,3}\] {0,3}[+-]? {1,10}(?:\d{1,9} )?(?i:killed|terminated|aborted?|hangup|quit)\b|^zsh: (?:killed|terminated|hangup|abort)\b"
    r"|\b(?:signal[ :]{1,2}(?:9|15|6|11)|(?:by|with|signal|on) (?:signal )?SIG(?:KILL|TERM|ABRT|SEGV|HUP|BUS))\b|\bchild killed\b|\b(?:code|status|returncode)\W{1,4}(?:137|143|139|134|-9|-15|-6|-11)\b"
)
"""Something ended the process from outside, or it aborted. A server that a script ends is not meant."""
_COMMAND = re.compile(
    r"^\[sandbox |\[(?:The )?[Cc]ommand (?:finished|completed)\b|\bgit\b|^\w{1,20}: \{|\bcannot find name for\b"
)
"""Of an agent's command, of a look at the repository, or of data."""
_WARNING = re.compile(r"\S{1,300}\.py:\d{1,6}: (?!\w{0,60}(?:Error|Exception)\b)")
"""Python's warnings, where a library leaves the class of the warning out."""
_SERVER = re.compile(r"\b(?:serve|server|api_server|tensorboard|http\.server|sleep|tail|watch)\b")
_OF_OUR_JOB = re.compile(
    r"\bskyrl-train job: (?:trainer|runtime): (?:stopped by|the (?:trainer|runtime) job ended: stopped by)"
)
"""A job of a launch was stopped from outside: Slurm's line, or the signal's, says by whom."""
_TROUBLE = re.compile(
    r"(?i)\b(?:fail(?:ed|ure|s)?|fatal|abort(?:ed|ing)?|giving up|gave up|can(?:no|')t|could(?: not|n't)|unable to|did(?: not|n't) (?:start|become|finish|respond|answer|complete|come|exit|return|get)|timed out|time-?out"
    r"|not found|no such|denied|refused|unauthorized|forbidden|invalid|unsupported|unrecogni[sz]ed|out of memory|disk full|quota exceeded|crashed|died"
    r"|unexpected(?:ly)?|exception|errors?(?!\.\w)|went wrong|bad gateway|internal server error|service unavailable|unreachable|broken pipe|core dumped|no module named"
    r"|no (?:cuda )?gpus?|[Jj]ob step aborted|[Ff]orce [Tt]erminated|stack trace|cannot continue|improperly|suspended|evicted|oomkilled|revoked|terminated abnormally"
    r"|insufficient \w+|not enough (?!SMs\b|variance\b)\w|exceeded your|over its \w+ quota|already in use(?! by)|unknown (?:option|argument|flag|command|key|parameter)|missing (?:required|mandatory)|arguments are required|^(?:the )?(?:training|run|job|execution|process) (?:was )?interrupted"
    r"|not (?:recognized|reachable|supported|allowed|writable|readable|a (?:directory|valid))|does(?: not|n't) (?:match|fit)|no (?:matching|devices?|such (?:file|key|bucket|device|table|service|image|container|command|option))\b|mismatch(?:ed)? (?:between|in|of)"
    r"|too (?:large|long|small|many \w+) (?:for (?!\d)|to\b)|(?:requested|needs|requires) \d+ .{1,40} but only)\b"
)
_NONE = re.compile(
    r"(?i)\b(?:0|no|zero|without|any|num|number of|total|[1-9]\d{0,8}) (?:\w+ ){0,2}(?:fail\w*|errors?|exceptions?|problems?|timeouts?|issues?)\b"
    r"|\b(?:ignor\w+|skip\w*|fall\w* ?back|default\w*|instead|retry(?:ing)?|retried|warning|warn|expected|optional|deprecat\w*|proceed\w*|continu\w*|still"
    r"|(?<!out )(?<!timeout )waiting|will|thrown|resolved|resum\w+|recover\w*|client disconnected|harmless|handled?|info|debug|locally)\b"
    r"|^wandb: |\b(?:nobody|no one|counted|in cache|unexpected keys)\b|\b(?:invalid|failed|missing|unexpected) \d{1,7}\b|(?<!\d)[:=] ?-?\d[\d.,%]*\s*$"
    r"|\b(?:tests?|rewards?|scores?|agents?|answer\w*|turns?|assistant|instances?|rollouts?|samples?|accuracy)\b|\bHTTP/\d"
    r"|\b(?:failed|failures|errors|timeouts) \d{1,7}(?:[,;)]|$)|(?:error|fail\w*|exception|timeout)s?(?: \w{1,12})? ?[:=] ?\d|(?:error|fail\w*|timeout)s?[ _](?:rate|count)|\d\s*%|\bit/s\b|\bs/it\b|(?:mean|abs\w*|squared?|std|val\w*|train|loss) \w{0,20} ?error"
)
"""Counts and rates of errors, what a program does without, and what is said of a rollout."""


def weigh_last_words(text: str, left: int = 0) -> Weight | None:
    """The weight of one of the last lines, with `left` lines below it; None where it says nothing of a failure."""
    header = parse_header(text)
    if (
        header.level in (Level.BELOW_WARNING, Level.WARNING)
        or is_quotation(text)
        or matches_error(text)
        or is_of_shell(text)
        or _WARNING.match(text)
        or _OF_OUR_JOB.search(text)
    ):
        return None
    message = text[header.end :]
    if _SIGNAL.search(message) and not _SERVER.search(message):
        return Weight.ERROR
    if _COMMAND.search(message):
        return None
    if _STATUS.search(message):
        return Weight.LAST_WORDS
    trouble = _TROUBLE.search(message) if left < SENTENCES else None
    if trouble is None or _NONE.search(message) or is_advice(message[: trouble.start()], message[trouble.end() :]):
        return None
    return Weight.LAST_WORDS
