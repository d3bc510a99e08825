"""The Podman store of one job, and the limits that a node must meet for it.

Rootless Podman keeps some state after a job (pause process, running containers, locks in /dev/shm). A store under the
job's name on a local disk avoids leftovers of earlier jobs and network file systems. Its settings are only for the node
of the sandboxes, since other programs read XDG_CONFIG_HOME too.
"""

import json
import re
from collections.abc import Sequence

from skyrl_train.node.containers_conf import job_containers_conf
from skyrl_train.node.settings import Directory, Preparation, Setting, TextFile

LOCAL_BASE = "/tmp"  # noqa: S108 -- local on every node; the directory below it is private (0700)
DRIVER = "overlay"

WANTED_IDS = 65536
"""Files in images belong to ids up to 65535."""
MIN_FREE_BYTES = 1 << 30
GOOD_FREE_BYTES = 5 << 30
"""A sandbox image takes 1 to 5 GB, and a run needs several."""
MIN_FREE_INODES = 10_000

STORE_BASE = "store_base"
"""The file in the job's directory on the node that names another base directory of its store (`sandbox.store`)."""
STORES = 5
"""The most stores of a job; a new one replaces a damaged one."""

_KERNEL = re.compile(r"(\d+)\.(\d+)\S*")
_ENTERPRISE_8 = re.compile(r"4\.18\.0-(\d+).*\.el8")
_ENTERPRISE_8_SINCE = 348
_OVERLAY_SINCE = (5, 11)


def job_directory(*, uid: int, job_id: str | None, base: str = LOCAL_BASE) -> str:
    """The directory of the job's store; outside Slurm, of the user's."""
    return f"{base.rstrip('/')}/skyrl-{uid}-{job_id or 'local'}/podman"


def store_pointer(*, uid: int, job_id: str | None, base: str) -> Preparation:
    """A file from which a cleanup of the node finds a store that is elsewhere; nothing for a store in the usual place."""
    if base.rstrip("/") == LOCAL_BASE:
        return Preparation()
    directory = _parent(job_directory(uid=uid, job_id=job_id))
    return Preparation(
        directories=(Directory(path=directory),), files=(TextFile(path=f"{directory}/{STORE_BASE}", text=f"{base}\n"),)
    )


def store_name(job_id: str, number: int) -> str:
    """The name of the job's directory for its first store and for each that replaced a damaged one."""
    return job_id if number == 1 else f"{job_id}-{number}"


def belongs_to_job(path: str, job_id: str) -> bool:
    """Whether a store belongs to the job: its path contains the job id, alone or after "job"."""
    return re.search(rf"(?:(?<![0-9A-Za-z])|(?<=job)){re.escape(job_id)}(?![0-9A-Za-z])", path) is not None


def kernel_has_rootless_overlay(release: str) -> bool | None:
    """Whether the kernel supports rootless overlay mounts: Linux 5.11 or RHEL 8.5. None if the release is unreadable."""
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
    """The settings, directories and files of the job's own store.

    `mount_program` is needed only if the kernel has no rootless overlay. `site_conf` holds the texts of the
    containers.conf files that the job's own file hides. `auth_file` keeps the registry logins, which Podman would look
    for in the directories that are replaced here.
    """
    own = job_directory(uid=uid, job_id=job_id, base=base)
    run, data, config, graph = (f"{own}/{name}" for name in ("run", "data", "config", "graph"))
    storage_conf, engine_conf = f"{own}/storage.conf", f"{own}/containers.conf"
    settings = [
        Setting(
            name="XDG_RUNTIME_DIR", value=run, cures="POD001", why="the pause process belongs to this job"
        ),  # FIX(POD001)
        Setting(
            name="XDG_DATA_HOME", value=data, cures="POD002", why="the data is never in a shared home directory"
        ),  # FIX(POD002)
        Setting(name="XDG_CONFIG_HOME", value=config, cures="POD002", why="the networks belong to this job"),
        Setting(
            name="CONTAINERS_CONF", value=engine_conf, cures="POD005", why="the job has its own locks"
        ),  # FIX(POD005)
        Setting(name="CONTAINERS_STORAGE_CONF", value=storage_conf, cures="POD006", why="the job has a new store"),
    ]
    if auth_file is not None:
        settings.append(
            Setting(name="REGISTRY_AUTH_FILE", value=auth_file, cures="IMG009", why="keeps the registry logins")
        )
    return Preparation(
        settings=tuple(settings),
        directories=tuple(Directory(path=path) for path in (_parent(own), own, run, data, config, graph)),
        files=(
            # FIX(POD006) FIX(POD007) -- it holds nothing of other jobs, and no other process takes its locks
            TextFile(path=storage_conf, text=storage_conf_text(graph, run, mount_program, additional_image_stores)),
            TextFile(path=engine_conf, text=job_containers_conf(site_conf)),
        ),
    )


def storage_conf_text(
    graph: str, run: str, mount_program: str | None = None, additional_image_stores: Sequence[str] = ()
) -> str:
    """The text of storage.conf(5). In such a file Podman before 6 reads rootless_storage_path, later versions graphroot."""
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
