"""verl's own workers in this process, built as main_ppo builds them for one GPU.

main_ppo puts the critic, the reference and the actor in one process of each GPU (create_colocated_worker_cls); so does
this. Their configuration is composed from verl's own YAML with the case's overrides. Only the rollout is a stand-in: it
takes the weights through verl's own BucketedWeightSender and lets nothing sleep or wake.
"""

import gc
import importlib.util
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.calibration.cases import A, Case
from benchmarks.calibration.meter import Meter
from benchmarks.calibration.models import random_weights

MIB = 2**20


def compose(case: Case, model: Path, attention: str) -> Any:
    """verl's whole configuration with the case's overrides."""
    import verl
    from hydra import compose as hydra_compose
    from hydra import initialize_config_dir

    job = dict(case.job)
    if case.flash_attn:
        job[f"{A}.model.override_config.attn_implementation"] = attention
    fixed: dict[str, Any] = {
        f"{A}.model.path": model,
        f"{A}.actor.optim.total_training_steps": 10,
        f"{A}.rollout.name": "vllm",
        f"{A}.rollout.tensor_model_parallel_size": 1,
        "trainer.n_gpus_per_node": 1,
        "trainer.nnodes": 1,
        "critic.model.path": model,
        "critic.model.tokenizer_path": model,
        "critic.optim.total_training_steps": 10,
        "critic.model.use_remove_padding": job[f"{A}.model.use_remove_padding"],
        "critic.model.override_config.attn_implementation": job[f"{A}.model.override_config.attn_implementation"],
    }
    overrides = [f"++{key}={value}" for key, value in (fixed | job).items()]
    with initialize_config_dir(version_base=None, config_dir=str(Path(verl.__file__).parent / "trainer" / "config")):
        return hydra_compose("ppo_trainer", overrides=overrides)


class Receiver:
    """The far end of the weight transfer: takes what is sent and keeps nothing."""

    def __init__(self, handle: str) -> None:
        import zmq

        self.socket = zmq.Context.instance().socket(zmq.REP)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.connect(handle)
        self.thread = threading.Thread(target=self._answer, daemon=True)
        self.thread.start()

    def _answer(self) -> None:
        import pickle

        while True:
            message = pickle.loads(self.socket.recv())
            self.socket.send(b"")
            if isinstance(message, dict) and message.get("is_last"):
                self.socket.close()
                return


def sender_class() -> Any:
    """verl's BucketedWeightSender, from its own file: the package around it asks for an installed vLLM."""
    import verl

    path = Path(verl.__file__).parent / "workers/rollout/vllm_rollout/bucketed_weight_transfer.py"
    spec = importlib.util.spec_from_file_location("calibration_weight_transfer", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # A handle that no other process opens would keep the buffer: its receiver is the one who lets it go.
    module.reduce_tensor = lambda _buffer: None
    return module.BucketedWeightSender


class Rollout:
    """Where vLLM would be: the same calls, the real sender, no memory of its own."""

    def __init__(self, bucket_mb: int) -> None:
        self.bucket_mb = bucket_mb
        self.sleep_level = 2

    async def resume(self, tags: list[str]) -> None:
        """vLLM's memory comes back here; it is another process's and is measured in vllm_lines.py."""

    async def update_weights(self, weights: Any, **_kwargs: Any) -> None:
        """Sends every tensor in buckets, as vllm_rollout.py does."""
        import torch

        handle = f"ipc:///tmp/calibration-{os.getpid()}.sock"
        on_gpu = torch.cuda.is_available()
        sender = sender_class()(zmq_handle=handle, bucket_size_mb=self.bucket_mb, use_shm=not on_gpu)
        receiver = Receiver(handle)
        await sender.async_send_weights(weights)
        receiver.thread.join(timeout=60)


@dataclass(slots=True)
class Workers:
    """The workers of one case; `ref` and `critic` only where the case has them."""

    actor: Any = None
    ref: Any = None
    critic: Any = None

    def drop(self) -> None:
        """Lets go of models and optimisers by name: frames kept by somebody's exception hold on to the workers."""
        outer = [worker for worker in (self.actor, self.ref) if worker is not None]
        inner = [getattr(worker, role) for worker in outer for role in ("actor", "ref")] + [self.critic]
        for worker in [*(worker for worker in inner if worker is not None), *outer]:
            engine = getattr(worker, "engine", None)
            if engine is not None:
                vars(engine).clear()
            vars(worker).clear()
        self.actor = self.ref = self.critic = None

    def parameters(self) -> dict[str, int]:
        """Counts, for the record."""
        module = self.actor.actor.engine.module
        counts = {
            "policy": sum(p.numel() for p in module.parameters()),
            "trainable": sum(p.numel() for p in module.parameters() if p.requires_grad),
        }
        if self.critic is not None:
            counts["critic"] = sum(p.numel() for p in self.critic.engine.module.parameters())
        return counts


def critic_worker(config: Any) -> Any:
    """As trainer_base.py builds it."""
    from verl.utils.config import omega_conf_to_dataclass
    from verl.workers.config import TrainingWorkerConfig
    from verl.workers.engine_workers import TrainingWorker
    from verl.workers.utils.losses import value_loss

    critic = omega_conf_to_dataclass(config.critic)
    critic.engine.infer_max_token_len_per_gpu = critic.ppo_infer_max_token_len_per_gpu
    critic.engine.max_token_len_per_gpu = critic.ppo_infer_max_token_len_per_gpu
    worker = TrainingWorker(
        config=TrainingWorkerConfig(
            model_type="value_model",
            model_config=critic.model,
            engine_config=critic.engine,
            optimizer_config=critic.optim,
            checkpoint_config=critic.checkpoint,
            profiler_config=None,
        )
    )
    worker.reset()
    worker.set_loss_fn(partial(value_loss, config=critic))
    return worker


def build(case: Case, config: Any, meter: Meter, workers: Workers) -> None:
    """Critic, reference, actor: in main_ppo's order."""
    from verl.workers.engine_workers import ActorRolloutRefWorker

    settings = config[A]
    with random_weights():
        if case.job["algorithm.adv_estimator"] == "gae":
            with meter.phase("critic_load"):
                workers.critic = critic_worker(config)
        if case.job[f"{A}.actor.use_kl_loss"] and not case.job[f"{A}.model.lora_rank"]:
            with meter.phase("ref_load"):
                workers.ref = ActorRolloutRefWorker(config=settings, role="ref")
                workers.ref.init_model()
        with meter.phase("load"):
            workers.actor = ActorRolloutRefWorker(config=settings, role="actor")
            workers.actor.init_model()
    worker = workers.actor
    worker.rollout = Rollout(int(settings.rollout.checkpoint_engine.update_weights_bucket_megabytes))
    worker.base_sync_done, worker.layered_summon = True, bool(settings.rollout.get("layered_summon", False))
    worker.peft_merge = bool(settings.model.lora.get("merge", False))


def process_group() -> None:
    """One rank. torch refuses the doubled `cpu:` that verl asks for where the device is a CPU."""
    import torch
    from torch.distributed import init_process_group

    ranks: Mapping[str, str] = {
        "RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1",
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0",
    }  # fmt: skip
    os.environ |= ranks
    store = torch.distributed.HashStore()
    init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo", store=store, rank=0, world_size=1)


def several_ranks() -> None:
    """The ranks that torchrun started."""
    import torch
    from torch.distributed import init_process_group

    init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo")


def _shrink(kept: object) -> None:
    """Empties a tensor that outlived its case: FSDP and frames of caught exceptions hold whole models."""
    import torch

    kind = type(kept)  # not isinstance: proxies answer that with what they stand for
    if (
        issubclass(kind, torch.Tensor)
        and kind.__torch_dispatch__ is torch.Tensor.__torch_dispatch__
        and not kept.is_meta
    ):
        storage = kept.untyped_storage()
        if (kept.is_cuda or storage.nbytes() >= MIB) and storage.resizable():
            storage.resize_(0)


def clear() -> None:
    """Gives everything back, cuBLAS's workspaces too, so that the next case starts as a fresh process does."""
    import torch

    gc.collect()
    for kept in gc.get_objects():
        _shrink(kept)
    if torch.cuda.is_available():
        torch._C._host_emptyCache()  # noqa: SLF001 - pinned memory that offload leaves behind
        torch._C._cuda_clearCublasWorkspaces()  # noqa: SLF001 - no public call does it
        torch.cuda.empty_cache()
        torch.cuda.memory._set_allocator_settings("expandable_segments:False")  # noqa: SLF001 - as verl itself does
