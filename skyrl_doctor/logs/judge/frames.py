"""The place in the code where an error was raised: the last frame of its traceback in the user's or a framework's code."""

import re

from skyrl_doctor.logs.read.noise import prefix, strip_noise

_FRAME = re.compile(rb'File "([^"\n]{1,300})", line (\d+), in ([\w.<>]{1,80})')
_INNER = re.compile(
    rb"^<|/lib/python3[\d.]*/(?!(?:site|dist)-packages)|/(?:torch|asyncio|pydantic|pydantic_core|httpx|httpcore|requests|urllib3|concurrent|"
    rb"multiprocessing|ray/_private|ray/util|hydra|omegaconf|click|importlib|transformers/utils|huggingface_hub|uvicorn|starlette|triton)/"
)
"""Libraries that only pass an error on."""
_FIRST_LINE = re.compile(rb"Traceback \(most recent call last\)|\bray\.exceptions\.\w{1,60}\(\w{1,80}\): ray::")
"""What stands above the frames of one exception. Ray writes those of a worker below a line of its own, without a heading."""


def raising_file(above: bytes, process: bytes) -> str:
    """The file of the innermost frame above a line of the process, a library's included."""
    for raw in reversed(above.split(b"\n")):
        if prefix(raw) != process:
            continue
        if _FIRST_LINE.search(raw):
            break
        if found := _FRAME.search(strip_noise(raw)):
            return found[1].decode("utf-8", "replace")
    return ""


def last_frame(above: bytes, process: bytes) -> str:
    """The last frame above a line of the process; one of a library only if there is no other."""
    inner = ""
    for raw in reversed(above.split(b"\n")):
        if prefix(raw) != process:
            continue
        if _FIRST_LINE.search(raw):
            break
        found = _FRAME.search(strip_noise(raw))
        if found is None:
            continue
        frame = f"{found[1].decode('utf-8', 'replace')}:{found[2].decode()} in {found[3].decode('utf-8', 'replace')}"
        if not _INNER.search(found[1]):
            return frame
        inner = inner or frame
    return inner
