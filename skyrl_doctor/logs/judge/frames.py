"""Where in the code an error came from: the last frame of its traceback that is the user's or a framework's."""

import re

from skyrl_doctor.logs.read.noise import prefix, uncoloured

_FRAME = re.compile(rb'File "([^"\n]{1,300})", line (\d+), in ([\w.<>]{1,80})')
_INNER = re.compile(
    rb"^<|/lib/python3[\d.]*/(?!(?:site|dist)-packages)|/(?:torch|asyncio|pydantic|pydantic_core|httpx|httpcore|requests|urllib3|concurrent|"
    rb"multiprocessing|ray/_private|ray/util|hydra|omegaconf|click|importlib|transformers/utils|huggingface_hub|uvicorn|starlette|triton)/"
)
"""What only hands on, or is no place for a user to look at."""


def last_frame(above: bytes, whose: bytes) -> str:
    """Among the lines of the same process; one of a library only if there is no other."""
    inner = ""
    for raw in reversed(above.split(b"\n")):
        if prefix(raw) != whose:
            continue
        if b"Traceback (most recent call last)" in raw:
            break
        found = _FRAME.search(uncoloured(raw))
        if found is None:
            continue
        shown = f"{found[1].decode('utf-8', 'replace')}:{found[2].decode()} in {found[3].decode('utf-8', 'replace')}"
        if not _INNER.search(found[1]):
            return shown
        inner = inner or shown
    return inner
