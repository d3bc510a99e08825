"""Finds the tests that a row of SWE-bench names. Many of its names are not those that pytest prints.

SWE-bench 5 cuts names at white space, shortens paths in brackets, and has names that are cut in the middle of a parameter.
"""

import bisect
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

PASSES = frozenset({"PASSED", "XFAIL"})
"""Statuses that count as passed, as in SWE-bench's grading."""

_MOST_CONTINUED = 1000
_BUTTONS = (("MouseButton.LEFT", "1"), ("MouseButton.RIGHT", "3"))
"""matplotlib's names under newer versions of Python, and in the rows."""


def match_names(expected: Iterable[str], found: Mapping[str, str]) -> dict[str, str]:
    """The status of each expected test that was found, by its name or by a name that SWE-bench makes of it."""
    ordered = sorted(found)
    others: dict[str, list[str]] = {}
    for name, status in found.items():
        for other in _other_names(name):
            others.setdefault(other, []).append(status)
    matched: dict[str, str] = {}
    for name in expected:
        if name in found:
            matched[name] = found[name]
        elif statuses := others.get(name) or [found[each] for each in _continued(name, ordered)]:
            matched[name] = _common(statuses)
    return matched


def _other_names(name: str) -> Iterator[str]:
    """The names in rows for a name in the output."""
    for left, right in _BUTTONS:
        name = name.replace(left, right)
    yield " ".join(name.split())
    first, *_ = name.split()
    yield first
    test, _, rest = first.partition("[")
    parameter, closed, _ = rest.rpartition("]")
    if closed and parameter.startswith("/") and not parameter.startswith("//") and "*" not in parameter:
        yield f"{test}[/{parameter.rpartition('/')[2]}]"


def _continued(name: str, ordered: Sequence[str]) -> Iterator[str]:
    """The names that begin with a name whose bracket is not closed."""
    if name.count("[") <= name.count("]"):
        return
    first = bisect.bisect_left(ordered, name)
    for each in itertools.islice(ordered, first, first + _MOST_CONTINUED):
        if not each.startswith(name):
            return
        yield each


def _common(statuses: Sequence[str]) -> str:
    """The status of several tests under one name: passed if all of them pass. Skipped ones do not count beside others."""
    ran = [status for status in statuses if status != "SKIPPED"] or statuses
    return next((status for status in ran if status not in PASSES), ran[0])
