"""The phases of a training step, in the order and with the settings of verl's trainer_base.py."""

import asyncio
import tempfile
from typing import Any

from benchmarks.calibration.batch import advantages, make, nested, with_info
from benchmarks.calibration.cases import A, Case
from benchmarks.calibration.meter import Meter
from benchmarks.calibration.workers import Workers


def response(case: Case, output: Any, batch: Any, key: str) -> Any:
    """The response's share of a per-token output, as the trainer cuts it out.

    Of the ranks that share a sequence only the first one has an output; the controller hands it to the others.
    """
    import torch
    from verl.workers.utils.padding import response_from_nested

    own = None if output is None else response_from_nested(output[key], batch["response_mask"])
    size = int(case.job.get(f"{A}.actor.ulysses_sequence_parallel_size", 1))
    if size == 1:
        return own
    rows: list[Any] = [None] * torch.distributed.get_world_size()
    torch.distributed.all_gather_object(rows, None if own is None else [row.cpu() for row in own.unbind()])
    return nested(rows[torch.distributed.get_rank() // size * size])


def forwards(case: Case, workers: Workers, batch: Any, meter: Meter, suffix: str) -> None:
    """Log-probs, the reference's, the critic's values; what they give joins the batch."""
    temperature = case.job[f"{A}.rollout.temperature"]
    asked = {"compute_loss": False, "temperature": temperature}
    with meter.phase(f"log_prob{suffix}"):
        output = workers.actor.compute_log_prob(with_info(batch, calculate_entropy=True, **asked))
    batch["old_log_probs"] = response(case, output, batch, "log_probs")
    if case.job[f"{A}.actor.use_kl_loss"]:
        with meter.phase(f"ref_log_prob{suffix}"):
            if workers.ref is None:
                asked["no_lora_adapter"] = True
                output = workers.actor.compute_log_prob(with_info(batch, calculate_entropy=False, **asked))
            else:
                output = workers.ref.compute_ref_log_prob(with_info(batch, calculate_entropy=False, **asked))
        batch["ref_log_prob"] = response(case, output, batch, "log_probs")
    if workers.critic is not None:
        with meter.phase(f"values{suffix}"):
            output = workers.critic.infer_batch(with_info(batch, **asked))
        batch["values"] = response(case, output, batch, "values")


def updates(case: Case, workers: Workers, batch: Any, meter: Meter, step: int) -> None:
    """The critic's update, then the actor's."""
    batch["advantages"] = advantages(batch)
    info = {
        "epochs": 1,
        "seed": 42,
        "dataloader_kwargs": {"shuffle": False},
        "temperature": case.job[f"{A}.rollout.temperature"],
    }
    n = int(case.job[f"{A}.rollout.n"])
    if workers.critic is not None:
        batch["returns"] = batch["advantages"].clone()
        size = int(case.job["critic.ppo_mini_batch_size"]) * n
        with meter.phase(f"update_critic_{step}"):
            workers.critic.train_mini_batch(with_info(batch, global_batch_size=size, mini_batch_size=size, **info))
    size = int(case.job[f"{A}.actor.ppo_mini_batch_size"]) * n
    entropy = bool(case.job[f"{A}.actor.calculate_entropy"]) or case.job[f"{A}.actor.entropy_coeff"] != 0
    info |= {"calculate_entropy": entropy, "distillation_use_topk": False, "distillation_only": False}
    with meter.phase(f"update_{step}"):
        workers.actor.update_actor(with_info(batch, global_batch_size=size, mini_batch_size=size, **info))


def weight_sync(workers: Workers, meter: Meter, suffix: str) -> None:
    """The actor's weights go to the rollout; afterwards only what stays resident while vLLM works is left."""
    with meter.phase(f"weight_sync{suffix}"):
        asyncio.run(workers.actor.update_weights(global_steps=0))
    with meter.phase(f"idle{suffix}"):
        pass


def checkpoint(workers: Workers, meter: Meter) -> None:
    """Model, optimiser and scheduler to a scratch directory, as save_freq makes verl do after a step."""
    with tempfile.TemporaryDirectory() as folder, meter.phase("checkpoint"):
        workers.actor.save_checkpoint(local_path=folder, global_step=2)


def run(case: Case, workers: Workers, vocab: int, meter: Meter) -> None:
    """main_ppo's course: the first sync, then two steps with a sync after each. It saves before that sync."""
    weight_sync(workers, meter, "_0")
    for step in (1, 2):
        batch = make(case.lengths(), vocab)
        forwards(case, workers, batch, meter, "" if step == 1 else "_2")
        updates(case, workers, batch, meter, step)
        if case.checkpoint and step == 2:
            checkpoint(workers, meter)
        weight_sync(workers, meter, "" if step == 1 else "_2")
