"""A reply as the prompt asks for it, and whether the stop texts of a configuration leave it a call (AGT001)."""

from collections.abc import Sequence

from skyrl_train.contracts.agent.call_parser import parse_call
from skyrl_train.contracts.agent.calls import Call

GOLDEN = (
    "I replace the comparison.\n\n<function=file_editor>\n<parameter=command>str_replace</parameter>\n"
    "<parameter=path>/testbed/a.py</parameter>\n<parameter=old_str>\nif a < b:\n    return b\n</parameter>\n"
    "<parameter=new_str>\nif a > b:\n\n    return a\n</parameter>\n</function>"
)
"""Thought, several parameters, an empty line: what every stop text must let through."""


def breaking_stop(stops: Sequence[str], *, keep: bool) -> str | None:  # FIX(AGT001)
    """The stop text that ends the golden reply before its call is whole, or None. `keep`: it stays in the answer."""
    places = [(GOLDEN.find(stop), stop) for stop in stops if stop and stop in GOLDEN]
    if not places:
        return None
    place, stop = min(places)
    reply = parse_call(GOLDEN[: place + len(stop) * keep])
    whole = parse_call(GOLDEN)
    same = isinstance(reply, Call) and isinstance(whole, Call) and reply.arguments == whole.arguments
    return None if same else stop
