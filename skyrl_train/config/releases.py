"""Which releases of a framework have a word or a rule."""

import functools
import re
from collections.abc import Sequence

from skyrl_train.contracts.record import record


@record
class Span:
    """The releases from `since` on, up to `until`, which no longer has it. Empty: from the first, or to the newest."""

    since: str = ""
    until: str = ""

    def holds(self, release: str) -> bool:
        number = _numbers(release)
        return (not self.since or number >= _numbers(self.since)) and (not self.until or number < _numbers(self.until))


ALWAYS = Span()


def neighbours(version: str, releases: Sequence[str]) -> tuple[str, ...]:
    """The releases whose rules a version may have: its own, else those before and after it. `releases`: the newest first."""
    if version in releases or not releases:
        return (version,)
    if not re.match(r"\d", version):
        return tuple(releases[:1])
    number = _numbers(version)
    after = [release for release in releases if _numbers(release) >= number]
    before = [release for release in releases if _numbers(release) < number]
    return (*after[-1:], *before[:1])


@functools.lru_cache(maxsize=256)
def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number[:9]) for number in re.findall(r"\d+", version)[:6])
