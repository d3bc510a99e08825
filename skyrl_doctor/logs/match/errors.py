"""Lines that look like errors, known or unknown, and how much each one says."""

import functools
import re
from enum import IntEnum

from skyrl_doctor.logs.match.builders import is_builders
from skyrl_doctor.logs.match.launcher_errors import LAUNCHER_ERRORS
from skyrl_doctor.logs.match.program_errors import NOT_A_NUMBER, PROGRAM_ERRORS
from skyrl_doctor.logs.match.system_errors import DENIED, NO_COMMAND, NO_FILE, SYSTEM_ERRORS
from skyrl_doctor.logs.read.levels import Header, Level, parse_header
from skyrl_train.contracts.run_log import CAUSE


class Weight(IntEnum):
    """How much an error line says of what went wrong. A line of the highest weight is shown, and the first of these."""

    TOLERATED = 0
    """It has the level of an error and says that the program goes on: no alarm."""
    LAST_WORDS = 1
    """It has no level and counts only as one of the last lines: an exit status, or words such as `failed`."""
    NOTE = 2
    """It only says that something failed, or follows from another error."""
    SHELL = 3
    """A command of a shell script failed, and the script goes on: what ends the run later says more."""
    ERROR = 4
    EXCEPTION = 5


# The line with which skyrl-train ends a run names the cause. The next line, of Slurm, only reports the end.
_TRAINER_END = (
    rf"\bskyrl-train (?:runtime(?: serve)?: |train: (?:{CAUSE}|refused: )|job: (?:trainer|runtime): "
    r"(?!done\b|stopped by signal \d+(?!: the \w+ job ended: (?!done|stopped))|the trainer job ended: |the \w+ (?:has ended|ended with|exited with))\S)"
)
NCCL_ERROR = r"\bNCCL WARN (?:Error|Cuda failure|Call to |(?!NET/|Failed to open )[^\n]{0,100}\b(?:[Ff]ail(?:ed|ure)|[Ee]rror|[Cc]onnect to|closed by remote peer)\b)"
"""NCCL writes its errors as warnings. Its network plugins warn of devices that they do without."""
ERRORS = (
    r"^\s{0,3}(?:\(\w+ pid=\d+\) )?(?:[A-Za-z_]\w*\.){0,6}(?:[A-Z]\w*(?:Error|Exception|Interrupt|Timeout|Failure)|Exception|StopIteration|AssertionError|SystemExit)(?::|$)",
    r"\b(?:ERROR|FATAL|CRITICAL|PANIC)\b|\blevel=(?:error|fatal|panic)\b|['\"](?:level(?:name)?|severity)['\"]: ?['\"](?:error|fatal|critical|panic)['\"]",
    r"^ {0,4}(?:[\w./-]+(?:\[\d+\])?: ){0,3}(?:line \d+: )?(?:fatal |internal )?(?:error: |Error: |fatal: |Fatal: |panic: )|\] (?:error|fatal): |^[\w./-]{1,100}: (?:unrecognized|invalid) option (?:-- )?['\"]?-{0,2}\w",
    r"Segmentation fault|core dumped|Core dumped|\bBus error\b|terminate called|Fatal Python error|\bCheck failed: |\bSIG(?:SEGV|BUS|ABRT|KILL|ILL)\b|\*\*\* Process received signal|double free|\bKilled\s*$|: line \d+: +\d+ (?:Killed|Aborted)\b",
    r"(?:command not found|cannot execute binary file|Exec format error|No such file or directory)\s*$|^[\w./-]{1,200}: (?:line \d{1,6}: )?[^:\n]{1,200}: (?:Permission denied|unbound variable)\s*$",
    r"\bthread .{0,80} panicked at\b|\bhave not registered within the timeout\b|\bFailed to connect to GCS within \d{1,6} seconds\b|\bUnhandled exception\b|\bCannot load symbol |\bhas detected the following error: |\bNo solution found when resolving\b",
    r"[\w.]+(?:Error: |Exception: )\S|^Failed to (?:obtain|initiali[sz]e) [^:\n]{1,80}: ",
    r"\bexec user process caused\b|: exec format error\b|\bexec /\S{1,200}: (?:no such file or directory|permission denied)\s*$|^(?:[a-z_]\w*\.){1,6}Timeout(?:Expired)?: ",
    r"\w\.(?:errors?|exceptions?)\.[A-Z]\w{2,60}: |^(?:docker: )?Error response from daemon: |^\((?:autoscaler|scheduler) \+\S{1,12}\) Error: |^OMP: Error #",
    _TRAINER_END,
    r"^(?:In '[^'\n]{1,200}': )?Could not (?:override|find) '|^Key '[^'\n]{1,200}' is not in struct",
    r"^Error (?:(?:start|creat|load|initiali[sz]|connect|process|handl|sav)ing|in|while|during) [^:\n]{1,80}: |\b\d{1,4} validation errors? for \w",
    r"\b(?:ERRO|FATA|PANI)\[\d{4,8}\]|\b[EF]\d{3,4} \d\d:\d\d:[\d.]{2,20} [\w ./-]{1,120}\.(?:cc:|cpp:|hpp:|go:|py:)\d|\bERR [\w/-]{1,80}\.py:\d|\bNVRM: Xid\b",
    NCCL_ERROR,
    r"^(?:[\dTZ:.-]{10,40} )?(?:##\[error\]|[\w./+-]{1,300}:\d{1,7}(?::\d{1,5})?: (?:fatal )?error: )|^\s{0,4}(?:ROCm|CUDA|HIP|NPU) error: \w|^ {0,8}[\w./+-]{1,300}\(\d{1,7}\): (?:catastrophic |fatal )?error(?: #[\w-]{1,20})?: ",
    r"(?:[AP]M|\dZ|:\d\d) (?:ERR|FTL|PNC) \S|^[^a-z\n]{0,60}\[(?:error|fatal|critical)\s{0,6}\]\s|^\[ERR\] ",
    *PROGRAM_ERRORS,
    *SYSTEM_ERRORS,
    *LAUNCHER_ERRORS,
    r"\d [EFC] \d{1,8} \d{1,8}\] (?:\(\w{1,20}\) )?[\w/-]{1,60}\.cc:\d",
)
ERROR = "|".join(f"(?:{part})" for part in ERRORS)
"""Lines that look like errors, known or unknown."""

_MAX_HEAD = 2000
_NOT_FOUND = "command not found|not found|[Nn]o such file or directory|Permission denied|Is a directory|Not a directory"
_SHELL = re.compile(
    rf"(?:[\w./~+-]{{1,200}}: ){{1,2}}(?:line )?\d{{1,6}}: (?!exec: )[^\n]{{1,300}}: (?:{_NOT_FOUND}|{NO_COMMAND}|{NO_FILE}|{DENIED})\s*$"
    rf"|-?(?:ba|da|z|k)?sh: [^:\n]{{1,300}}: (?:{_NOT_FOUND})\s*$|zsh: (?:command not found|no such file or directory): "
    rf"|(?:[\w./~+-]{{1,200}}: (?:line )?\d{{1,6}}: )?(?:/bin/|/usr/bin/)?(?:cd|rm|rmdir|ls|cp|mv|mkdir|ln|cat|chmod|chown|touch|du|find|grep|sed|awk|tail|head|which|source|module|ulimit|export|tput|stty|modulecmd|basename|dirname|ps|pkill|kill|groups|whoami|hostname): "
    r"|[\w./~+-]{1,200}: line \d{1,6}: \[{1,2}: |Lmod has detected the following error: |(?:\w+\.)*(?:CondaError|CommandNotFoundError|EnvironmentNameNotFound|EnvironmentLocationNotFound): "
    r"|fatal: (?:not a git repository\b|No names found, cannot describe anything\b)"
    r"|ERROR: (?:Could not (?:find a version that satisfies|install packages due to|open requirements file)|No matching distribution found for|Failed building wheel for|Invalid requirement: )\b"
)
"""What a shell, the small programs of a script, conda's activation and pip write, before the script goes on."""
_EXCEPTION = re.compile(
    r"(?:[\w.-]*\d[\w.-]*: )?(?:\[\w{1,20}\]: ?)?(?:[A-Za-z_]\w*\.){0,8}"
    r"(?:[A-Z]\w*(?:Error|Exception|Interrupt|Failure|Timeout|Exit)|Exception|StopIteration|LLVM ERROR)(?::|$)"
)
"""A message that begins with an exception is an error whatever its other words are."""
_RESULTING = re.compile(
    r"(?:\w+\.)*(?:KeyboardInterrupt|SystemExit|\w*CancelledError|BrokenPipeError|EOFError|ConnectionResetError)\b|RuntimeError: Error raised in subprocess\b"
    r"|(?:\w+\.)*\w*(?:Timeout|TimeoutError)(?:: timed out)?$|(?:\w+\.)*\w+: Caught \w+ in (?:DataLoader worker process|replica) \d"
    r"|.{0,200}\b(?:failed|exit(?:s|ed)?) with (?:error |return |exit )?(?:code|status)[ :=]{1,4}-?\d+\.?$|Job '\w+' failed|-{5,}$|Last error: ?$|Invocation of \w+ method failed$|Exception in thread [\w.-]+(?: \(\S+\))?:$"
    r"|(?:\[[\w ()]{1,60}\] ?)*(?:To avoid data inconsistency|Exception \(either an error or timeout\)|Timeout at NCCL work|First PG on this rank|Received a dump signal|Observed flight recorder dump signal|failure detected by watchdog|Stack trace of the failed collective)"
    r"|.{0,80}\bprinting (?:contents of )?(?:enroot )?log file\b|Dumping (?:input data|scheduler (?:stats|output))\b|\d{1,6} errors? occurred:\s*$|Exited with exit code \d{1,3}\.\s*$|(?:\[[^\]\n]{1,40}\] |[\w.]{1,60} \| )?Received sigquit from a child process\b"
    r"|_{3,200} ERROR (?:collecting|at (?:setup|teardown) of) "
    r"|\w{5,8} detected that one or more processes exited\b|Primary job {1,2}terminated normally|Status message: Job entrypoint command failed\b"
)
"""Messages that only report the end of something, exceptions that a program gets when another one has ended or that say
nothing of the other end, and those that repeat another."""
_DEVICE_ASSERT = re.compile(r"[\w./+-]{1,200}\.(?:cuh?|hip):\d{1,7}: .{0,400}\bAssertion [`'].{1,300}[`'] failed")
"""The reason of a CUDA error that the host reports later, and elsewhere."""
_ADVICE = re.compile(
    r"(?:CUDA|HIP) kernel errors might be asynchronously reported\b|For debugging consider passing (?:CUDA_LAUNCH_BLOCKING|AMD_SERIALIZE_KERNEL|HIP_LAUNCH_BLOCKING)\b"
    r"|Compile with `TORCH_USE_(?:CUDA|HIP)_DSA`|Search for `(?:cuda|hip)Error\w{1,60}' in https?://|Device-side assertions? (?:were|was|tracking)\b"
)
"""What torch writes below a CUDA error."""
_NOT_A_NUMBER = re.compile(NOT_A_NUMBER)
_TEST = re.compile(
    r"(?:FAILED|ERROR) \S{1,200}::\S{1,200} - (?!AssertionError|assert )(?:\w+\.)*\w*(?:Error|Exception): "
)
"""pytest's line about a test that could not run, or whose code failed."""
_NCCL_ERROR = re.compile(NCCL_ERROR)
_NCCL_SERVICE = re.compile(r"\bNCCL WARN \[(?:Service thread|Proxy [Ss]ervice)\b")
"""A thread of NCCL that reports what failed in another one."""
_RAY_ERROR = re.compile(r"[\w ()]{0,60}\[\d{4}-\d\d-\d\d [\d:,.]+ E \d+ \d+\]")
"""Ray's C++ code writes this level for much that goes on, such as metrics that it cannot export."""
_HARMLESS = re.compile(
    r"Unable to register cu\w{2,6} factory|\bCannot use FA version \d|computation placer already registered|\bgit root error: |\bwandb: ERROR Error while calling\b|signature, but not documented|\bError retrieving safetensors: |\bPMIX ERROR: ERROR in file gds_ds12_lock_pthread\.c at line \d"
    r"|\bFailed to start the dashboard\b|\bError should be written to 'dashboard\.(?:log|err)'|\bCouldn't read dashboard\.(?:log|err) file\b"  # Ray goes on without it
    r"|\bsocket\.cpp:\d{1,5}\] \[c10d\] The server socket has failed to listen on any local network address\.$"  # an exception follows where it matters
    r"|\berror: couldn't chdir to [`'][^\n]{1,300}: going to /tmp instead\b"  # Slurm starts the task there
    r"|\[HAMI-core ERROR \("  # it returns the error to the program, which raises its own where it matters
)
_REFUSED = re.compile(
    r"\b(?:ErrorInfo|ErrorResponse)\(.{0,4000}\bcode=4\d\d\b|\bError with model (?:error=|object=).{0,4000}\bcode=4\d\d\b|\b[Cc]lient error\b.{0,40}\b4\d\d\b|\bInvalid HTTP request received\b"
)
"""A server's line about a request that it refused because the request was wrong: the server goes on."""
_TRACEBACK = "Traceback (most recent call last):"
"""Not this line but the last one of a traceback says what happened."""
_GOES_ON = re.compile(
    r"(?i)\bretry\b|\bretries\b|\bretrying\b|\bretried\b|\bignor(?:e|ed|ing)\b|\bproceeding without\b|\bskipp(?:ed|ing)\b|\bfall(?:ing|s)? ?back\b"
    r"|\brecovered\b|\bhandled\b|\b(?:is|are|was|as) expected\b|\bexpected (?:while|during|when|on)\b|\(expected\b"
)
_TRIES_AGAIN = re.compile(
    r"(?i)\bretrying\b|\bwill (?:be )?retr(?:y|ied)\b|\bretry (?:in|after|\d)|\bignor(?:ed|ing)\b|^[^:]{1,60}: proceeding"
)
_BARE_LEVEL = re.compile(r"\b(?:level|lvl)=\w{3,8}\s*$")
"""A level without a message."""
_LEVEL_WORD = re.compile(r"^[^'\"]{0,120}\bERROR:|\[HAMI-core ERROR \(")
_FATAL_WORD = re.compile(r"\[FATAL\]|^(?:FATAL|PANIC)\b")
_LOW_WORD = re.compile(r"\b(?:INFO|DEBUG|TRACE|WARN|WARNING|NOTICE)\b|\bwarnings?\.warn\b|\w+Warning:")
_QUOTES_ERROR = re.compile(
    r"^\++ \S|\[[\w./-]+:\d+\] {2,}\S|\b[\w./-]+\.py:\d+\] {3,}\S|:\d+\] {2}File .|Exception ignored in|^\W*(?:PASSED|FAILED|ERROR|XFAIL|SKIPPED) \S+::|^\s{0,8}(?:PASS|FAIL)\s{1,8}[\w.-]{1,60}\s{2,}\S|EXECUTION RESULT of|(?i:\bobservation\b)"
    r"|^[+-]?\s*(?:except|raise|class|import|from|def|if|assert|return|#)\b|<(?:function|parameter)="
)
"""Lines of a program, a test or an agent that hold the words of an error."""
_NO_ERROR = re.compile(
    rf"\bskyrl-train train: (?!{CAUSE}|refused: )"  # messages of a run that continues
    r"|(?i:\berror[ _-](?:handl\w+|codes?(?!:? [1-9])|logs?|files?|counts?|rates?|recovery|correction)\b)"
    r"|(?i:(?<![/\w.-])(?:0|no|zero|without) (?:\w+ )?errors?\b|errors?(?! {2})\W{1,4}(?:0\b|none\b|null\b|false\b|\[\]|\{\}))|dependency resolver|Unable to write (?:system|container|image) event|unable to write pod event|^Error executing job with overrides"
    r"|\bError(?: response from daemon)?: [Nn]o (?:such (?:object|container|pod|volume|image)|(?:container|pod|volume) with (?:name|ID))"  # asked during clean-up
    r"|\bslurmstepd: error: .{0,80}\brmdir\b|\bRAY_DRIVER_FAILURE\b"
    r"|--?\w*error\w*=|\b\w*(?:rate|ratio|count|loss|num)\w*/?\w*error"
)


def is_error(text: str) -> bool:
    """Whether a line that matches ERROR reports an error: no warning, no retry, no source code."""
    return (weigh(text) or Weight.TOLERATED) > Weight.TOLERATED


def looks_like_error(text: str) -> bool:
    """Whether a line, which need not match ERROR, reports an error."""
    return _error().search(text[:_MAX_HEAD]) is not None and is_error(text)


def matches_error(text: str) -> bool:
    """Whether a line matches ERROR: then `weigh` judges it."""
    return _error().search(text[:_MAX_HEAD]) is not None


def is_of_shell(text: str) -> bool:
    """Whether a shell, or a small program of a script, wrote the line before the script goes on."""
    return _SHELL.match(text[:_MAX_HEAD]) is not None


def is_quotation(text: str) -> bool:
    """Whether a line is one of a program, a test or an agent that holds the words of an error."""
    return _QUOTES_ERROR.search(text[:_MAX_HEAD]) is not None


def is_device_assert(text: str) -> bool:
    """Whether a line says which assertion of a GPU kernel failed."""
    return _DEVICE_ASSERT.search(text) is not None


def is_not_a_number(text: str) -> bool:
    """Whether a line of figures has a loss that is no number."""
    return _NOT_A_NUMBER.search(text) is not None


def is_failed_test(text: str) -> bool:
    """Whether pytest reports a test that failed by an exception of the tested code."""
    return _TEST.match(text) is not None


def weigh(text: str) -> Weight | None:
    """The weight of a line that matches ERROR; None where it reports no error."""
    head = text[:_MAX_HEAD]
    header = parse_header(head)
    if header.level is None and header.end:  # the line of another program: the level before it says nothing
        head, header = head[header.end :], parse_header(head[header.end :])
        if not matches_error(head):
            return None
    if _NCCL_ERROR.search(head):
        return Weight.NOTE if _NCCL_SERVICE.search(head) else Weight.ERROR
    if header.level in (Level.BELOW_WARNING, Level.WARNING) or _QUOTES_ERROR.search(head):
        return None
    if head.endswith(_TRACEBACK, header.end) or _ADVICE.match(head, header.end):
        return None
    if _DEVICE_ASSERT.match(head, header.end):
        return Weight.EXCEPTION
    if is_not_a_number(head):
        return Weight.NOTE
    if _EXCEPTION.match(head) or _EXCEPTION.match(head, header.end):
        return _weigh_exception(head, header)
    if _NO_ERROR.search(head) or (header.level is None and _is_low(head)):
        return None
    if _RAY_ERROR.match(head) and not _error(but_ray=True).search(head):
        return Weight.TOLERATED
    if header.level is not None and _REFUSED.search(head):
        return Weight.TOLERATED
    if _HARMLESS.search(head) or (
        _GOES_ON.search(head) and header.level is not Level.FATAL and not _FATAL_WORD.search(head)
    ):
        return Weight.TOLERATED if header.level is not None or _LEVEL_WORD.search(head) else None
    if _SHELL.match(head):
        return Weight.SHELL
    if header.level is not None and header.end and not head[header.end :].strip():
        return Weight.NOTE
    is_note = _is_resulting(head, header) or _BARE_LEVEL.search(head) is not None
    return Weight.NOTE if is_note else Weight.ERROR


def _weigh_exception(head: str, header: Header) -> Weight:
    if _TRIES_AGAIN.search(head):
        return Weight.TOLERATED
    if _SHELL.match(head):
        return Weight.SHELL
    return Weight.NOTE if _is_resulting(head, header) else Weight.EXCEPTION


def _is_resulting(head: str, header: Header) -> bool:
    """Whether the message only reports that something ended or failed."""
    return (
        _RESULTING.match(head, header.end) is not None or is_builders(head.lstrip(), 0) or is_builders(head, header.end)
    )


def _is_low(head: str) -> bool:
    """Whether a word for a low level stands before the error, in a line without a header."""
    low = _LOW_WORD.search(head)
    error = _error().search(head) if low else None
    return low is not None and (error is None or low.start() < error.end())


@functools.cache
def _error(*, but_ray: bool = False) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{part})" for part in ERRORS[:-1]) if but_ray else ERROR)
