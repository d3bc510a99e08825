"""The file systems below a store, their free space, and the real paths of the store's directories."""

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
    """A directory of the store. `path` is as configured, `resolved` has no links. `space` is None if it is unknown."""

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
    """`graph` and `run` are the directories that Podman uses. `configured_…` are the configured paths without links.

    `tmp_creatable`: libpod's directory exists or can be created. `older_than_boot`: libpod's state is older than the
    last boot, and Podman does not notice.
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
    """Reads the file systems below the store's directories."""
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
        space=None if remote else _space(machine, place.existing),  # statfs(2) hangs if the server is dead
    )


def _space(machine: Machine, path: str) -> Space | None:
    try:
        return machine.space(path)
    except Unreadable:
        return None


def _older_than_boot(machine: Machine, path: str) -> bool:
    """Whether libpod's `alive` file, which it creates once after each boot, is older than the last boot."""
    found = stat_or_none(machine, path)
    lines = (text_or_none(machine, "/proc/stat") or "").splitlines() if found is not None else []
    booted = next((line.split()[1] for line in lines if line.startswith("btime ")), "")
    return found is not None and booted.isdigit() and found.mtime < float(booted) - _CLOCK_STEP_S
