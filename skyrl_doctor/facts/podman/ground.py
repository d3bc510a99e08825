"""What a store stands on: file systems, free space, and whether its places are those that it was made for."""

from skyrl_doctor.core.record import record
from skyrl_doctor.facts.mounts import Mount
from skyrl_doctor.machine.questions import Space


@record(kw_only=True)
class Ground:
    """One directory: `path` as configured, `resolved` without links. `space` None: it could not be asked."""

    path: str
    resolved: str
    exists: bool
    mount: Mount | None
    space: Space | None = None

    @property
    def file_system(self) -> str:
        return self.mount.kind if self.mount is not None else "unknown"

    @property
    def on_network(self) -> bool:
        return self.mount is not None and self.mount.is_network


@record(kw_only=True)
class PodmanGround:
    """`graph` and `run` are what Podman uses; the `configured_…` ones without links, to compare with the database.

    `tmp_creatable`: libpod's directory is there, or can be made. `older_than_boot`: libpod's state was not made since
    the machine started, which Podman would see if it were gone.
    """

    graph: Ground
    run: Ground
    configured_graph: str
    configured_run: str
    tmp_creatable: bool
    older_than_boot: bool = False
    job_started: float | None = None
