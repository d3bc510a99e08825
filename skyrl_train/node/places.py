"""Every directory that the rules of a node make for one job, and for no other: what goes when the job has gone. Pure."""

from collections.abc import Sequence

from skyrl_train.node import caches, podman_store
from skyrl_train.node.ray_tmp import short_directory


def job_directories(*, uid: int, job_id: str, bases: Sequence[str] = (podman_store.LOCAL_BASE,)) -> tuple[str, ...]:
    """`bases` are the places on the node in which caches may have been put.

    Without the id of a job they would be the user's, and other runs of the same user work in them.
    """
    if not job_id.isascii() or not job_id.isdigit():
        raise ValueError(f"{job_id!r} is no id of a job")
    stores = [
        podman_store.job_directory(uid=uid, job_id=podman_store.store_name(job_id, number)).rpartition("/")[0]
        for number in range(1, podman_store.STORES + 1)
    ]
    kept = [caches.job_directory(base.rstrip("/"), uid=uid, job_id=job_id) for base in bases]
    return tuple(dict.fromkeys([*stores, *kept, short_directory(uid=uid, job_id=job_id)]))
