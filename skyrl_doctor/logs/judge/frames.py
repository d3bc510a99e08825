"""The place in the code where an error was raised: the last frame of its traceback in the user's or a framework's code."""

import re
from collections.abc import Iterator

from skyrl_doctor.logs.read.levels import parse_header
from skyrl_doctor.logs.read.noise import clean, prefix, strip_noise

_FRAME = re.compile(rb'File "([^"\n]{1,300})", line (\d+), in ([\w.<>]{1,80})')
_INNER = re.compile(
    rb"^<|/lib/python3[\d.]*/(?!(?:site|dist)-packages)|/(?:torch|asyncio|pydantic|pydantic_core|httpx|httpcore|requests|urllib3|concurrent|"
    rb"multiprocessing|ray/_private|ray/util|hydra|omegaconf|click|importlib|transformers/utils|huggingface_hub|uvicorn|starlette|triton)/"
)
"""Libraries that only pass an error on."""
_FIRST_LINE = re.compile(rb"Traceback \(most recent call last\)|\bray\.exceptions\.\w{1,60}\(\w{1,80}\): ray::")
"""What stands above the frames of one exception. Ray writes those of a worker below a line of its own, without a heading."""


_LAST_LINE = re.compile(rb"(?:[A-Za-z_]\w*\.)*[A-Z]\w*:")
"""The last line of a traceback."""


def raising_file(above: bytes, process: bytes, text: bytes = b"") -> str:
    """The file of the innermost frame above a line of the process, a library's included."""
    return next((found[1].decode("utf-8", "replace") for found in _frames(above, process, text)), "")


def last_frame(above: bytes, process: bytes, text: bytes = b"") -> str:
    """The last frame above a line of the process; one of a library only if there is no other."""
    inner = ""
    for found in _frames(above, process, text):
        frame = f"{found[1].decode('utf-8', 'replace')}:{found[2].decode()} in {found[3].decode('utf-8', 'replace')}"
        if not _INNER.search(found[1]):
            return frame
        inner = inner or frame
    return inner


def _frames(above: bytes, process: bytes, text: bytes) -> Iterator[re.Match[bytes]]:
    """The frames of the traceback above the line `text`, the innermost first.

    A line with the header of a logger or of a program such as slurmstepd is none of a traceback that ended above it.
    """
    has_header = parse_header(text.decode("utf-8", "replace")).end > 0
    for raw in reversed(above.split(b"\n")):
        if prefix(raw) != process:
            continue
        if _FIRST_LINE.search(raw) or (has_header and _LAST_LINE.match(clean(raw))):
            return
        if found := _FRAME.search(strip_noise(raw)):
            yield found
