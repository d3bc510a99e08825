"""The number of containers that may start at the same time on Podman's SQLite database (POD009)."""

from collections.abc import Iterator

from skyrl_train.contracts.violation import Violation

AT_ONCE = 64
"""Failures are reported from a few hundred on: a client of SQLite waits for its turn, but only for a time."""
LOCKED = "database is locked"
"""The message of podman when the wait was too long."""


def burst_violations(*, sqlite: bool, at_once: int) -> Iterator[Violation]:
    """Applies to a runtime that starts every request at once. Ours makes its calls in a few threads and retries."""
    if sqlite and at_once > AT_ONCE:
        yield Violation(
            key="agent.max_parallel",
            message=f"{at_once} containers start at the same time on Podman's SQLite database; expected at most {AT_ONCE}",
            settings={"agent.max_parallel": str(AT_ONCE)},
            fatal=False,
        )
