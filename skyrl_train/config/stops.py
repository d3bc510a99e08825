"""Which stop texts must stay in an answer (AGT014)."""

from collections.abc import Iterable, Iterator

STOP_KEY, KEEP_KEY = "rollout.stop", "rollout.keep_stop"
CLOSING = "</function"
"""What closes a function call in XML; OpenHands stops at it without the last bracket."""


def stripped(stops: Iterable[str], *, keep: bool | None) -> Iterator[str]:  # FIX(AGT014)
    """The stop texts that close a call and that the server would take away. `keep` None is vLLM's default: take away."""
    if not keep:
        yield from (stop for stop in stops if stop.startswith(CLOSING))
