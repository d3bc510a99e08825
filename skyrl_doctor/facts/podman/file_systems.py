"""What a store stands on: file systems, free space, and whether its places are those that it was made for."""

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.mounts import Mount, Mounts
from skyrl_doctor.facts.podman.store import PodmanStore
from skyrl_doctor.machine.base import Machine, Unreadable
from skyrl_doctor.machine.paths import resolve_links, stat_or_none, text_or_none
from skyrl_doctor.machine.queries import Space

_CLOCK_STEP_S = 120.0
_JOB_START = "SLURM_JOB_START_TIME"


@record(kw_only=True)
class StoreDirectory:
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
class StoreFileSystems:
    """`graph` and `run` are what Podman uses; the `configured_…` ones without links, to compare with the database.

    `tmp_creatable`: libpod's directory is there, or can be made. `older_than_boot`: libpod's state was not made since
    the machine started, which Podman would see if it were gone.
    """

    graph: StoreDirectory
    run: StoreDirectory
    configured_graph: str
    configured_run: str
    tmp_creatable: bool
    older_than_boot: bool = False
    job_started: float | None = None


@probe(limit_s=5.0)
def store_file_systems(machine: Machine, store: PodmanStore, mounts: Mounts) -> StoreFileSystems:
    """Looks at the file systems below a store."""
    store.require_readable()
    places, configured = store.places, store.configured
    started = machine.environ().get(_JOB_START, "")
    return StoreFileSystems(
        graph=_ground(machine, places.graph_root, mounts),
        run=_ground(machine, places.run_root, mounts),
        configured_graph=resolve_links(machine, configured.graph_root).resolved,
        configured_run=resolve_links(machine, configured.run_root).resolved,
        tmp_creatable=machine.writable(resolve_links(machine, places.tmp_dir).existing),
        older_than_boot=_older_than_boot(machine, f"{places.tmp_dir}/alive"),
        job_started=float(started) if started.isascii() and started.isdigit() else None,
    )


def _ground(machine: Machine, path: str, mounts: Mounts) -> StoreDirectory:
    place = resolve_links(machine, path)
    mount = mounts.of(place.resolved)
    remote = mount is not None and mount.is_network
    return StoreDirectory(
        path=path,
        resolved=place.resolved,
        exists=place.exists,
        mount=mount,
        space=None if remote else _space(machine, place.existing),  # statfs(2) of a dead server does not return
    )


def _space(machine: Machine, path: str) -> Space | None:
    try:
        return machine.space(path)
    except Unreadable:
        return None


def _older_than_boot(machine: Machine, path: str) -> bool:
    """libpod's `alive` file is made once after each boot."""
    found = stat_or_none(machine, path)
    lines = (text_or_none(machine, "/proc/stat") or "").splitlines() if found is not None else []
    booted = next((line.split()[1] for line in lines if line.startswith("btime ")), "")
    return found is not None and booted.isdigit() and found.mtime < float(booted) - _CLOCK_STEP_S
