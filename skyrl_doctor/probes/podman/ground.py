"""Looks at the file systems below a store."""

from skyrl_doctor.core.check import probe
from skyrl_doctor.facts.mounts import Mounts
from skyrl_doctor.facts.podman.ground import Ground, PodmanGround
from skyrl_doctor.facts.podman.store import PodmanStore
from skyrl_doctor.machine.base import Machine, Unreadable
from skyrl_doctor.machine.questions import Space
from skyrl_doctor.probes.places import place_of
from skyrl_doctor.probes.podman.paths import stat_or_none, text_or_none

_CLOCK_STEP_S = 120.0
_JOB_START = "SLURM_JOB_START_TIME"


@probe(limit_s=5.0)
def podman_ground(machine: Machine, store: PodmanStore, mounts: Mounts) -> PodmanGround:
    store.require_readable()
    places, configured = store.places, store.configured
    started = machine.environ().get(_JOB_START, "")
    return PodmanGround(
        graph=_ground(machine, places.graph_root, mounts),
        run=_ground(machine, places.run_root, mounts),
        configured_graph=place_of(machine, configured.graph_root).resolved,
        configured_run=place_of(machine, configured.run_root).resolved,
        tmp_creatable=machine.writable(place_of(machine, places.tmp_dir).existing),
        older_than_boot=_older_than_boot(machine, f"{places.tmp_dir}/alive"),
        job_started=float(started) if started.isascii() and started.isdigit() else None,
    )


def _ground(machine: Machine, path: str, mounts: Mounts) -> Ground:
    place = place_of(machine, path)
    mount = mounts.of(place.resolved)
    remote = mount is not None and mount.is_network
    return Ground(
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
