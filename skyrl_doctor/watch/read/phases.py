"""Lines that say that weights begin to move to the inference server: if nothing follows, that is where it hangs (TRN006)."""

import re
from collections.abc import Iterator

from skyrl_doctor.watch.observations import Phase

WEIGHTS = "weight sync"
SAMPLES = (
    "INFO 03-02 09:14:00 [gpu_worker.py:311] Reloading weights inplace...",
    '10.0.0.4:51234 - "POST /update_weights HTTP/1.1" 200 OK',
    "(TaskRunner pid=81) [trainer] syncing weights to 1 rollout server(s)",
    "Broadcasting weights to the inference pool for step 4",
)
_WEIGHTS = re.compile(
    r"\b(?:updat|reload|sync(?:hroni[sz])?|broadcast|transferr?|send)(?:e|ing)?[ _/-](?:\w+ ){0,2}weights?\b",
    re.IGNORECASE,
)


def phases(path: str, number: int, text: bytes, at: float) -> Iterator[Phase]:
    """The last such line of the text."""
    found = text.rfind(b"weights")
    while found >= 0:
        start = text.rfind(b"\n", 0, found) + 1
        end = text.find(b"\n", found)
        line = text[start : end if end >= 0 else len(text)].decode("utf-8", "replace")
        if "timing_s/" not in line and _WEIGHTS.search(line[:2000]):
            line_number = number + text.count(b"\n", 0, start)
            yield Phase(at=at, name=WEIGHTS, file=path, line=line_number, text=line.strip()[:400])
            return
        found = text.rfind(b"weights", 0, start)
