"""GPUs of a job that only generate rollouts (trainer.mode = "separate_async"), and those that train."""

from collections.abc import Iterator

from skyrl_train.contracts import verl_keys
from skyrl_train.contracts.record import record
from skyrl_train.contracts.verl_keys import SEPARATE
from skyrl_train.contracts.violation import Violation

KEY, MODE, SERVER, MINI_BATCH = (
    "trainer.rollout_gpus",
    "trainer.mode",
    "rollout.tensor_parallel_size",
    "actor.ppo_mini_batch_size",
)
SENDER, SENDERS_MODULE = "skyrl", "skyrl_train.rl.weight_sender"
"""The name under which that module gives verl a program that sends weights to other GPUs."""


@record(kw_only=True)
class Split:
    """The nodes of the trainer and of the rollouts, and the GPUs of each node."""

    trainer_nodes: int
    trainer_gpus: int
    rollout_nodes: int
    rollout_gpus: int

    @property
    def trainer_devices(self) -> int:
        return self.trainer_nodes * self.trainer_gpus


def split_of(*, mode: str, nodes: int, gpus_per_node: int, rollout_gpus: int) -> Split | None:
    """Whole nodes for the rollouts if they fit, else the same number of GPUs on each node; None if neither is possible, or if
    the mode shares all GPUs."""
    if mode != SEPARATE:
        return None
    if not 0 < rollout_gpus < nodes * gpus_per_node:
        return None
    if rollout_gpus % gpus_per_node == 0:
        servers = rollout_gpus // gpus_per_node
        return Split(
            trainer_nodes=nodes - servers,
            trainer_gpus=gpus_per_node,
            rollout_nodes=servers,
            rollout_gpus=gpus_per_node,
        )
    if rollout_gpus % nodes == 0:
        each = rollout_gpus // nodes
        return Split(trainer_nodes=nodes, trainer_gpus=gpus_per_node - each, rollout_nodes=nodes, rollout_gpus=each)
    return None


def verl_values(parts: Split) -> dict[str, int | bool | str]:
    """The GPUs of each part as verl takes them, and the sender between them. The trainer's have no model server then."""
    return {
        verl_keys.key_of("slurm.nodes"): parts.trainer_nodes,
        verl_keys.key_of("slurm.gpus_per_node"): parts.trainer_gpus,
        verl_keys.OWN_NODES: parts.rollout_nodes,
        verl_keys.OWN_GPUS: parts.rollout_gpus,
        verl_keys.SHARED: False,
        verl_keys.SENDER: SENDER,
        verl_keys.SENDERS_MODULE: SENDERS_MODULE,
    }


def split_violations(*, mode: str, nodes: int, gpus_per_node: int, rollout_gpus: int) -> Iterator[Violation]:
    """Rollout GPUs that the mode does not use, or that leave none for the trainer."""
    devices = nodes * gpus_per_node
    if mode != SEPARATE:
        if rollout_gpus:
            yield Violation(
                key=KEY,
                message=f"rollout_gpus = {rollout_gpus}, but with mode = {mode!r} the rollouts share the trainer's GPUs; "
                f"use mode = {SEPARATE!r}, or rollout_gpus = 0",
                settings={KEY: "0"},
            )
        return
    if devices < 2:
        yield Violation(
            key=MODE,
            message=f"mode = {SEPARATE!r} needs at least 2 GPUs, one for rollouts and one that trains, but the job has {devices}; "
            "use colocate_async",
            settings={MODE: "colocate_async", KEY: "0"},
        )
    elif not 0 < rollout_gpus < devices:
        yield Violation(
            key=KEY,
            message=f"mode = {SEPARATE!r} needs 1 to {devices - 1} of the job's {devices} GPUs for rollouts, but rollout_gpus "
            f"is {rollout_gpus}",
            settings={KEY: str(nodes * (gpus_per_node // 2) or gpus_per_node * (nodes // 2))},
        )
    elif split_of(mode=mode, nodes=nodes, gpus_per_node=gpus_per_node, rollout_gpus=rollout_gpus) is None:
        yield Violation(
            key=KEY,
            message=f"rollout_gpus = {rollout_gpus} is neither whole nodes of {gpus_per_node} GPUs nor the same number on each of "
            f"{nodes} nodes; use a multiple of {gpus_per_node} or of {nodes}",
            settings={KEY: str(-(-rollout_gpus // nodes) * nodes)} if -(-rollout_gpus // nodes) < gpus_per_node else {},
        )


def server_violations(*, parts: Split, tensor_parallel: int) -> Iterator[Violation]:
    """A model server that needs more GPUs than a node has for rollouts, or leaves some of them unused."""
    if parts.rollout_gpus % tensor_parallel:
        yield Violation(
            key=SERVER,
            message=f"model servers of {tensor_parallel} GPUs do not divide the {parts.rollout_gpus} rollout "
            f"GPU{'s' * (parts.rollout_gpus > 1)} of a node",
            settings={SERVER: "1"},
        )


def update_violations(*, batch: int, mini_batch: int) -> Iterator[Violation]:
    """Several updates in a step.

    verl 0.9.1 then keeps copies of the weights in host memory. Where the weights are off-loaded, the copy is the weights
    themselves, and restoring the older one silently undoes the updates of the step.
    """
    if mini_batch != batch:
        yield Violation(
            key=MINI_BATCH,
            message=f"mode = {SEPARATE!r} makes one update in a step, but a mini batch has {mini_batch} prompts and the train batch "
            f"{batch}; use the same number",
            settings={MINI_BATCH: str(batch)},
        )
