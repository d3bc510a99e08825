"""Stop texts that must stay in the response (AGT014)."""

from collections.abc import Iterable, Iterator

STOP_KEY, KEEP_KEY = "rollout.stop", "rollout.keep_stop"
CLOSING = "</function"
"""The end of a function call in XML, without the last bracket, as OpenHands uses it."""


def stripped(stops: Iterable[str], *, keep: bool | None) -> Iterator[str]:  # FIX(AGT014)
    """The stop texts that close a call and that the server would remove. `keep` None is vLLM's default, which removes them."""
    if not keep:
        yield from (stop for stop in stops if stop.startswith(CLOSING))
