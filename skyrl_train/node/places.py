"""The directories that the rules make on a node for one job, which are removed after the job. Pure."""

from collections.abc import Sequence

from skyrl_train.node import caches, podman_store
from skyrl_train.node.ray_tmp import short_directory


def job_directories(*, uid: int, job_id: str, bases: Sequence[str] = (podman_store.LOCAL_BASE,)) -> tuple[str, ...]:
    """The directories of a job. `bases` are the scratch directories that may hold its caches.

    ValueError without a job id: such directories belong to the user and are shared by all runs.
    """
    if not job_id.isascii() or not job_id.isdigit():
        raise ValueError(f"{job_id!r} is not a job id")
    stores = [
        podman_store.job_directory(uid=uid, job_id=podman_store.store_name(job_id, number)).rpartition("/")[0]
        for number in range(1, podman_store.STORES + 1)
    ]
    kept = [caches.job_directory(base.rstrip("/"), uid=uid, job_id=job_id) for base in bases]
    return tuple(dict.fromkeys([*stores, *kept, short_directory(uid=uid, job_id=job_id)]))
