"""A regular expression that is compiled when it is first used: a command uses few of all that could be needed."""

import functools
import re


class LazyPattern:
    """`compiled` is the pattern. A mistake in it shows at its first use, so each needs a test that uses it."""

    def __init__(self, text: str, flags: int = 0) -> None:
        self._text = text
        self._flags = flags

    @functools.cached_property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self._text, self._flags)
