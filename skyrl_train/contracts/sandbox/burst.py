"""How many containers may be started at once on Podman's database (POD009)."""

from collections.abc import Iterator

from skyrl_train.contracts.violation import Violation

AT_ONCE = 64
"""Reports begin at a few hundred; a client of SQLite waits for its turn, but not for ever."""
LOCKED = "database is locked"
"""What podman says then."""


def burst_violations(*, sqlite: bool, at_once: int) -> Iterator[Violation]:
    """For a runtime that starts whatever it is asked for. Ours makes its calls in a few threads, and tries again."""
    if sqlite and at_once > AT_ONCE:
        yield Violation(
            key="agent.max_parallel",
            message=f"{at_once} containers are started at once on Podman's SQLite database; wanted at most {AT_ONCE}",
            settings={"agent.max_parallel": str(AT_ONCE)},
            fatal=False,
        )
