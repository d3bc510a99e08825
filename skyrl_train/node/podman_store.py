"""A Podman store of one job alone, and the rules that tell whether a store and its node can carry one.

Rootless Podman keeps state that outlives a job (pause process, running containers, locks in /dev/shm) beside state
that does not. A store under the job's own name on a local disk meets neither an earlier job's leftovers nor a network
file system. Its settings are for the node of the sandboxes only: other programs read XDG_CONFIG_HOME too.
"""

import json
import re
from collections.abc import Sequence

from skyrl_train.node.containers_conf import job_containers_conf
from skyrl_train.node.settings import Directory, Preparation, Setting, TextFile

LOCAL_BASE = "/tmp"  # noqa: S108 -- local on every node; the directory below it is the job's own, 0700
DRIVER = "overlay"

WANTED_IDS = 65536
"""Images own their files by ids up to 65535."""
MIN_FREE_BYTES = 1 << 30
GOOD_FREE_BYTES = 5 << 30
"""One sandbox image has 1-5 GB; a run needs several."""
MIN_FREE_INODES = 10_000

STORES = 5
"""How many stores a job takes at most, each when the one before it was damaged."""

_KERNEL = re.compile(r"(\d+)\.(\d+)\S*")
_ENTERPRISE_8 = re.compile(r"4\.18\.0-(\d+).*\.el8")
_ENTERPRISE_8_SINCE = 348
_OVERLAY_SINCE = (5, 11)


def job_directory(*, uid: int, job_id: str | None, base: str = LOCAL_BASE) -> str:
    """Where the store of a job is; outside of Slurm one per user."""
    return f"{base.rstrip('/')}/skyrl-{uid}-{job_id or 'local'}/podman"


def store_name(job_id: str, number: int) -> str:
    """What the job's directory is called by for its first store, and for those that came after a damaged one."""
    return job_id if number == 1 else f"{job_id}-{number}"


def belongs_to_job(path: str, job_id: str) -> bool:
    """Whether a store's directory is the job's own: the job id stands in its path, alone or after "job"."""
    return re.search(rf"(?:(?<![0-9A-Za-z])|(?<=job)){re.escape(job_id)}(?![0-9A-Za-z])", path) is not None


def kernel_has_rootless_overlay(release: str) -> bool | None:
    """Whether the kernel mounts overlay for an ordinary user: Linux 5.11, or RHEL 8.5's. None where it cannot be told."""
    match = _KERNEL.match(release)
    if match is None:
        return None
    enterprise = _ENTERPRISE_8.match(release)
    if enterprise is not None:
        return int(enterprise[1]) >= _ENTERPRISE_8_SINCE
    return (int(match[1]), int(match[2])) >= _OVERLAY_SINCE


def job_store(
    *,
    uid: int,
    job_id: str | None,
    base: str = LOCAL_BASE,
    mount_program: str | None = None,
    additional_image_stores: Sequence[str] = (),
    site_conf: Sequence[str] = (),
    auth_file: str | None = None,
) -> Preparation:
    """All that gives a job its own store.

    `mount_program` is wanted only where the kernel has no rootless overlay. `site_conf` are the texts of the
    containers.conf files that Podman reads so far, which the job's own would hide. `auth_file` keeps registry logins,
    which Podman looks for in the directories that are replaced here.
    """
    own = job_directory(uid=uid, job_id=job_id, base=base)
    run, data, config, graph = (f"{own}/{name}" for name in ("run", "data", "config", "graph"))
    storage_conf, engine_conf = f"{own}/storage.conf", f"{own}/containers.conf"
    settings = [
        Setting(name="XDG_RUNTIME_DIR", value=run, cures="POD001", why="pause process of this job"),  # FIX(POD001)
        Setting(name="XDG_DATA_HOME", value=data, cures="POD002", why="never in a shared home"),  # FIX(POD002)
        Setting(name="XDG_CONFIG_HOME", value=config, cures="POD002", why="networks of this job"),
        Setting(name="CONTAINERS_CONF", value=engine_conf, cures="POD005", why="locks of its own"),  # FIX(POD005)
        Setting(name="CONTAINERS_STORAGE_CONF", value=storage_conf, cures="POD006", why="a new store"),
    ]
    if auth_file is not None:
        settings.append(Setting(name="REGISTRY_AUTH_FILE", value=auth_file, cures="IMG009", why="keeps the logins"))
    return Preparation(
        settings=tuple(settings),
        directories=tuple(Directory(path=path) for path in (_parent(own), own, run, data, config, graph)),
        files=(
            # FIX(POD006) FIX(POD007) -- nothing of another job's is in it, and nobody else takes its locks
            TextFile(path=storage_conf, text=storage_conf_text(graph, run, mount_program, additional_image_stores)),
            TextFile(path=engine_conf, text=job_containers_conf(site_conf)),
        ),
    )


def storage_conf_text(
    graph: str, run: str, mount_program: str | None = None, additional_image_stores: Sequence[str] = ()
) -> str:
    """storage.conf(5). Podman before 6 takes rootless_storage_path from a file that a variable names, later ones graphroot."""
    lines = [
        "[storage]",
        f"driver = {json.dumps(DRIVER)}",
        f"graphroot = {json.dumps(graph)}",
        f"rootless_storage_path = {json.dumps(graph)}",
        f"runroot = {json.dumps(f'{run}/containers')}",
    ]
    if additional_image_stores:
        lines += ["[storage.options]", f"additionalimagestores = {json.dumps(list(additional_image_stores))}"]
    if mount_program is not None:
        lines += ["[storage.options.overlay]", f"mount_program = {json.dumps(mount_program)}"]
    return "\n".join(lines) + "\n"


def _parent(path: str) -> str:
    return path.rpartition("/")[0]
