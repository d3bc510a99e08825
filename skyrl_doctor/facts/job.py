"""The resources of this Slurm job, from its environment."""

from collections.abc import Mapping

from skyrl_doctor.core.errors import CouldNotLook

NODE_COUNTS = ("SLURM_JOB_NUM_NODES", "SLURM_NNODES")


def node_count(environ: Mapping[str, str]) -> int | None:
    """The number of nodes of this job; None outside a job. Raises CouldNotLook if the variable is not a number."""
    if not environ.get("SLURM_JOB_ID"):
        return None
    name = next((name for name in NODE_COUNTS if environ.get(name)), None)
    if name is None:
        return None
    text = environ[name]
    if not (text.isascii() and text.isdecimal() and 0 < int(text) < 1_000_000):
        raise CouldNotLook(f"{name}={text[:40]} is not a number of nodes")
    return int(text)
