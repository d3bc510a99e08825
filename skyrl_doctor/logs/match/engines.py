"""Makes the fastest search engine that is installed."""

from collections.abc import Sequence, Set

from skyrl_doctor.logs.match.engine import Engine

ENGINES = ("hyperscan", "re")
"""The fastest first."""


def make_engine(patterns: Sequence[str], name: str | None = None, frequent: Set[int] = frozenset()) -> Engine:
    """The fastest engine, or the named one. `frequent` are the numbers of patterns that match in many lines of any log."""
    for candidate in (name,) if name else ENGINES:
        try:
            return _make(candidate, patterns, frequent)
        except ImportError:
            if name:
                raise
    raise AssertionError("the engine on Python's own re is always there")


def _make(name: str, patterns: Sequence[str], frequent: Set[int]) -> Engine:
    if name == "hyperscan":
        from skyrl_doctor.logs.match.engine_hyperscan import HyperscanEngine

        return HyperscanEngine(patterns, frequent)
    from skyrl_doctor.logs.match.engine_re import ReEngine

    return ReEngine(patterns)
