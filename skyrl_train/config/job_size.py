"""How many GPUs a Slurm job gets from its options (SLM005)."""


def gpus_of_job(*, nodes: int, per_node: int | None, total: int | None) -> int | None:  # FIX(SLM005)
    """The GPUs of the job, or None if no option names them. `--gpus` counts all nodes together."""
    if per_node is not None:
        return nodes * per_node
    return total
