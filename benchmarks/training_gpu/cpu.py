"""The program itself tried where there is no GPU: a tiny shape on the tests' platform for verl. Its figures say nothing."""

from collections.abc import Mapping

from benchmarks.training_gpu.cases import Case

_WORDS = (
    "trainer.device=cpu",
    "actor_rollout_ref.rollout.free_cache_engine=False",
    "actor_rollout_ref.actor.use_torch_compile=False",
    "actor_rollout_ref.actor.fsdp_config.use_torch_compile=False",
    "actor_rollout_ref.ref.fsdp_config.use_torch_compile=False",
    "actor_rollout_ref.model.enable_gradient_checkpointing=False",
    "+actor_rollout_ref.rollout.enable_sleep_mode=False",
    "actor_rollout_ref.rollout.checkpoint_engine.update_weights_bucket_megabytes=16",
    "+actor_rollout_ref.rollout.engine_kwargs.vllm.worker_extension_cls=cpu_stack.vllm_worker.Worker",
    "ray_kwargs.ray_init.num_cpus=12",
    "+ray_kwargs.ray_init.object_store_memory=500000000",
)


def words(gpus: int) -> tuple[str, ...]:
    """Overrides of verl. Ray is told of so many GPUs."""
    return (*_WORDS, f"+ray_kwargs.ray_init.num_gpus={gpus}")


ENVIRON: Mapping[str, str] = {
    "VERL_PLATFORM": "cpu",
    "VERL_ENGINE_DEVICE": "cuda",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "TORCHDYNAMO_DISABLE": "1",
    "OMP_NUM_THREADS": "1",
}
MODULE = "cpu_stack.device"
"""In tests/, which PYTHONPATH must name."""


def small(case: Case) -> Case:
    """The same case in a shape that two cores can train."""
    return case._replace(
        shape="tiny", prompt=128, response=16, model_len=256, kv_gib=0, load_format="dummy", eager=True, vllm_gib=70
    )
