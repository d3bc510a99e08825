"""The place in the code where an error was raised: the last frame of its traceback in the user's or a framework's code."""

import re
from collections.abc import Iterator

from skyrl_doctor.logs.read.levels import parse_header
from skyrl_doctor.logs.read.noise import clean, prefix

_QUOTE = rb"(?:\"|\xe2\x80[\x9c-\x9f]|['\x60])"
"""A quote. Forums and chats make curly ones of it."""
_FRAME = re.compile(rb"File " + _QUOTE + rb"([^\"\n]{1,300}?)" + _QUOTE + rb", line (\d+), in ([\w.<>]{1,80})")
_INNER = re.compile(
    rb"^<|/lib/python3[\d.]*/(?!(?:site|dist)-packages)|/(?:torch|asyncio|pydantic|pydantic_core|httpx|httpcore|requests|urllib3|concurrent|"
    rb"multiprocessing|ray/_private|ray/util|hydra|omegaconf|click|importlib|transformers/utils|huggingface_hub|uvicorn|starlette|triton)/"
)
"""Libraries that only pass an error on."""
_FIRST_LINE = re.compile(rb"Traceback \(most recent call last\)|\bray\.exceptions\.\w{1,60}\(\w{1,80}\): ray::")
"""What stands above the frames of one exception. Ray writes those of a worker below a line of its own, without a heading."""

_LAST_LINE = re.compile(
    rb"(?:[A-Za-z_]\w*\.)*(?:[A-Z]\w*:|\w*(?:Error|Exception|Interrupt|Exit|Timeout|StopIteration)\s*$)"
)
"""The last line of a traceback."""
_DETAIL = re.compile(rb"Last error: *$")
_ABOVE_DETAIL = re.compile(rb"nccl\w{1,40}: |(?:torch\.distributed\.)?DistBackendError: ")
"""What torch writes between its traceback and the last error of NCCL."""
_MAX_BETWEEN = 2
"""Lines without indentation between the last frame and its exception: its source and its marks, where a text lost its blanks."""
_INSTALLED = re.compile(r".*/(?:site|dist)-packages/(?P<name>[A-Za-z_]\w*)")
_NAME = r"(?P<name>verl|vllm|sglang|ray|skyrl\w*|prime_rl|verifiers|trl|openrlhf|transformers|torch)/"
_TWICE = re.compile(rf"(?:^|.*/){_NAME}(?P=name)/")
_CHECKOUT = re.compile(
    rf"(?:^|.*?/)(?<!/home/){_NAME}"
    r"(?!(?:examples?|scripts?|recipes?|tests?|benchmarks?|data|rewards?|custom\w*|my\w*|users?|projects?)/)\w+(?:/|\.pyx)"
)
"""A module of a package in its checkout. The outermost name counts: skyrl/backends/skyrl_train is of skyrl.

The user's own files often lie in a checkout too, but not in the package's folders.
"""
_STANDARD = re.compile(r"/lib/python3[\d.]*/")
_OWN_FILE = re.compile(r"(?!<)(?!.*/bin/).+\.(?:py|ipynb)$")
"""A file that may be the user's own: no frozen module, and no command that an installation made."""


def raising_package(path: str) -> str:
    """The package of a source file; empty for the user's own code."""
    if found := _INSTALLED.match(path) or _TWICE.match(path) or _CHECKOUT.match(path):
        return found["name"]
    return "python" if _STANDARD.search(path) else ""


def is_own_file(path: str) -> bool:
    """Whether a source file is the user's own, and of no package."""
    return _OWN_FILE.match(path) is not None and not raising_package(path)


def own_frame(above: bytes, process: bytes) -> str:
    """The innermost frame above a line of the process that is in a file of the user."""
    frames = _frames(above, process)
    return next((_place(found) for found in frames if is_own_file(found[1].decode("utf-8", "replace"))), "")


def innermost_frame(above: bytes, process: bytes) -> str:
    """The innermost frame above a line of the process, a library's included; one without a file only if there is no other."""
    frames = [*_frames(above, process)]
    return next((_place(found) for found in frames if found[1][:1] != b"<"), _place(frames[0]) if frames else "")


def last_frame(above: bytes, process: bytes) -> str:
    """The innermost frame above a line of the process that is in no library that only passes an error on."""
    return next((_place(found) for found in _frames(above, process) if not _INNER.search(found[1])), "")


def file_of(frame: str) -> str:
    """The file of a frame."""
    return frame.rpartition(" in ")[0].rpartition(":")[0]


def short_place(frame: str) -> str:
    """A frame in words: its function, its line and its file without the folders."""
    place, _, function = frame.rpartition(" in ")
    file, _, line = place.rpartition(":")
    return f"{function}, line {line} of {file.rpartition('/')[2]}"


def _place(found: re.Match[bytes]) -> str:
    return f"{found[1].decode('utf-8', 'replace')}:{found[2].decode()} in {found[3].decode('utf-8', 'replace')}"


def _frames(above: bytes, process: bytes) -> Iterator[re.Match[bytes]]:
    """The frames of the traceback above a line, the innermost first.

    They belong to the exception below them: a line further down, or of a program such as slurmstepd, has none.
    """
    between, is_below, is_detail = 0, True, False
    for raw in reversed(above.split(b"\n")):
        if not raw.strip() or prefix(raw) != process:
            continue
        line = clean(raw)
        if found := _FRAME.search(line):
            is_below = False
            yield found
            continue
        if _FIRST_LINE.search(line):
            return
        message = line[parse_header(line.decode("utf-8", "replace")).end :]
        if is_below and (_DETAIL.match(message) or (is_detail and _ABOVE_DETAIL.match(message))):
            is_detail = True
            continue
        if _LAST_LINE.match(message):
            return
        between += is_below and not message.startswith((b" ", b"\t"))
        if between > _MAX_BETWEEN:
            return
