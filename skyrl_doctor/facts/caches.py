"""Where the compilers' caches lie, and whether they can be written."""

from skyrl_doctor.core.record import record
from skyrl_doctor.facts.mounts import Mount
from skyrl_train.node.caches import Cache


@record(kw_only=True)
class CachePlace:
    """One cache, or one place that could take the caches (`cache` None).

    `trouble`: why it cannot be written; empty where it can. `unseen`: why nothing of this is known.
    """

    path: str
    cache: Cache | None = None
    resolved: str = ""
    mount: Mount | None = None
    trouble: str = ""
    unseen: str = ""

    @property
    def shown(self) -> str:
        """The path, and where it leads if it is a link."""
        return self.path if self.resolved in ("", self.path) else f"{self.path} (a link to {self.resolved})"

    @property
    def broken(self) -> str:
        """Why compiled code cannot be written there or loaded from there; empty where it can."""
        if self.cache is not None and not self.cache.path:
            return f"{self.cache.variable} is set and empty"
        if self.trouble:
            return f"{self.shown} cannot be used: {self.trouble}"
        if self.mount is not None and "noexec" in self.mount.options:
            return f"{self.shown} lies on {self.mount.point}, mounted noexec"
        return ""

    @property
    def remote(self) -> str:
        """Which network file system it lies on; empty for the node's own disk."""
        if self.mount is not None and self.mount.is_network:
            return f"{self.shown} lies on {self.mount.kind} ({self.mount.point})"
        return ""

    @property
    def fit(self) -> bool:
        """Whether compiled code can be written and loaded there, and stays on this node."""
        return not (self.broken or self.remote or self.unseen)


@record
class Caches:
    places: tuple[CachePlace, ...]
    scratch: tuple[CachePlace, ...]

    def of(self, program: str) -> CachePlace:
        return next(place for place in self.places if place.cache is not None and place.cache.program == program)

    @property
    def unfit(self) -> tuple[str, ...]:
        """What the trainer's rule takes as unfit; its paths, as it names them."""
        caches = (place.cache.path for place in self.places if place.cache is not None and not place.fit)
        return (*caches, *(place.path for place in self.scratch if not place.fit))
