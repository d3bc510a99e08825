"""Remedies that several of Podman's failures share."""

import shlex

from skyrl_doctor.core.model import Remedy, RemedyKind
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.podman.store import PodmanStore
from skyrl_train.node.podman_store import belongs_to_job, job_directory, job_store

JOB_ENVIRONMENT = 'eval "$(skyrl-doctor env --shell)"'
"""Makes the directories and files of skyrl_train.node.podman_store, and exports what names them."""
RESET_DELETES = "it deletes all images, containers, volumes and networks of this store"


def isolate(store: PodmanStore, environ: Environ, *, instead_of: str = "") -> Remedy:
    """A store of the job's own. It changes nothing of the one that is there; images have to be pulled into it."""
    preparation = job_store(uid=store.uid, job_id=environ.get("SLURM_JOB_ID") or None)
    return Remedy(
        kind=RemedyKind.FIX_ENV,
        summary=f"give the job a store of its own{instead_of}",
        commands=(JOB_ENVIRONMENT,),
        settings={setting.name: setting.value or "" for setting in preparation.settings},
        safe=True,
    )


def reset_or_isolate(store: PodmanStore, environ: Environ, *, before: tuple[str, ...] = ()) -> Remedy:
    """The last resort for a store that is the job's own already; any other is left alone.

    `before` are commands without which a reset fails on the damage that it is for.
    """
    if not is_own(store, environ):
        return isolate(store, environ, instead_of=f" (podman system reset would heal this one, but {RESET_DELETES})")
    return Remedy(
        kind=RemedyKind.RESET_STORE,
        summary=f"reset the store: {RESET_DELETES}",
        commands=(*before, "podman system reset --force"),
    )


def is_own(store: PodmanStore, environ: Environ) -> bool:
    """Whether the store is this job's, or already the one that `isolate` makes."""
    graph, job_id = store.places.graph_root, environ.get("SLURM_JOB_ID")
    if graph.startswith(job_directory(uid=store.uid, job_id=job_id or None) + "/"):
        return True
    return bool(job_id) and belongs_to_job(graph, job_id or "")


def quoted(*words: str) -> str:
    """A command to paste."""
    return shlex.join(words)
