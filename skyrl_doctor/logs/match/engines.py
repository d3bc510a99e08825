"""Makes the fastest search engine that is installed."""

from collections.abc import Sequence, Set

from skyrl_doctor.logs.match.engine import Engine

ENGINES = ("hyperscan", "re")
"""The fastest first."""


def engine(patterns: Sequence[str], name: str | None = None, often: Set[int] = frozenset()) -> Engine:
    """The fastest that is installed, or the named one; `often` are numbers of patterns that stand in many lines of any log."""
    for wanted in (name,) if name else ENGINES:
        try:
            return _made(wanted, patterns, often)
        except ImportError:
            if name:
                raise
    raise AssertionError("Python's own re is always there")


def _made(name: str, patterns: Sequence[str], often: Set[int]) -> Engine:
    if name == "hyperscan":
        from skyrl_doctor.logs.match.engine_hyperscan import Hyperscan

        return Hyperscan(patterns, often)
    from skyrl_doctor.logs.match.engine_re import Re

    return Re(patterns)
