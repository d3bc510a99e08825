"""The environment that Ray's workers of this run will have, as far as it is settled already."""

from skyrl_doctor.core.record import record


@record(kw_only=True)
class RayWorkers:
    """`names`: the variables that they inherit; None where that is another's cluster. `of` says whose Ray it is."""

    names: frozenset[str] | None
    of: str


def names_of(environ: bytes) -> frozenset[str]:
    """The names in a /proc/PID/environ."""
    words = environ.decode("utf-8", "surrogateescape").split("\0")
    return frozenset(word.partition("=")[0] for word in words if "=" in word)
