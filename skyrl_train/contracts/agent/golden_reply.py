"""A sample reply in the format of the prompt, and whether stop texts of a configuration break its call (AGT001)."""

from collections.abc import Sequence

from skyrl_train.contracts.agent.call_parser import parse_call
from skyrl_train.contracts.agent.calls import Call

GOLDEN = (
    "I replace the comparison.\n\n<function=file_editor>\n<parameter=command>str_replace</parameter>\n"
    "<parameter=path>/testbed/a.py</parameter>\n<parameter=old_str>\nif a < b:\n    return b\n</parameter>\n"
    "<parameter=new_str>\nif a > b:\n\n    return a\n</parameter>\n</function>"
)
"""A thought, several parameters and an empty line; no stop text may end it early."""


def breaking_stop(stops: Sequence[str], *, keep: bool) -> str | None:  # FIX(AGT001)
    """The stop text that ends the golden reply before its call is complete, or None. `keep`: it stays in the reply."""
    positions = [(GOLDEN.find(stop), stop) for stop in stops if stop and stop in GOLDEN]
    if not positions:
        return None
    position, stop = min(positions)
    reply = parse_call(GOLDEN[: position + len(stop) * keep])
    complete = parse_call(GOLDEN)
    same = isinstance(reply, Call) and isinstance(complete, Call) and reply.arguments == complete.arguments
    return None if same else stop
