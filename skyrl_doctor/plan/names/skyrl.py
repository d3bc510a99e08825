"""The keys of SkyRL's trainer by canonical key, and its defaults that checks need."""

from collections.abc import Mapping

DIALECT = "skyrl"
POLICY, PLACEMENT, ENGINE = "trainer.policy", "trainer.placement", "generator.inference_engine"
NAMES: Mapping[str, str] = {
    f"{POLICY}.model.path": "model.path",
    f"{POLICY}.model.lora.rank": "model.lora_rank",
    f"{POLICY}.model.lora.alpha": "model.lora_alpha",
    f"{POLICY}.sequence_parallel_size": "actor.sequence_parallel_size",
    f"{POLICY}.fsdp_config.cpu_offload": "actor.cpu_offload",
    f"{POLICY}.optimizer_config.lr": "actor.lr",
    f"{PLACEMENT}.policy_num_nodes": "slurm.nodes",
    f"{PLACEMENT}.policy_num_gpus_per_node": "slurm.gpus_per_node",
    "trainer.train_batch_size": "data.train_batch_size",
    "trainer.policy_mini_batch_size": "actor.ppo_mini_batch_size",
    "trainer.micro_train_batch_size_per_gpu": "actor.micro_batch_size_per_gpu",
    "trainer.micro_forward_batch_size_per_gpu": "rollout.log_prob_micro_batch_size_per_gpu",
    "trainer.max_prompt_length": "data.max_prompt_tokens",
    "trainer.epochs": "trainer.epochs",
    "trainer.ckpt_path": "trainer.checkpoint_dir",
    "trainer.ckpt_interval": "trainer.save_every_steps",
    "trainer.algorithm.advantage_estimator": "algorithm.advantage",
    "data.train_data": "data.train_files",
    "data.val_data": "data.val_files",
    "generator.n_samples_per_prompt": "rollout.n",
    "generator.max_turns": "agent.max_turns",
    "generator.sampling_params.max_generate_length": "rollout.max_tokens",
    "generator.sampling_params.temperature": "rollout.temperature",
    "generator.sampling_params.top_p": "rollout.top_p",
    "generator.sampling_params.top_k": "rollout.top_k",
    "generator.sampling_params.stop": "rollout.stop",
    f"{ENGINE}.backend": "rollout.engine",
    f"{ENGINE}.tensor_parallel_size": "rollout.tensor_parallel_size",
    f"{ENGINE}.gpu_memory_utilization": "rollout.gpu_memory_utilization",
    f"{ENGINE}.enforce_eager": "rollout.enforce_eager",
    f"{ENGINE}.engine_init_kwargs.max_model_len": "rollout.max_model_len",
}
OLDER: Mapping[str, str] = {
    "generator.backend": "rollout.engine",
    "generator.inference_engine_tensor_parallel_size": "rollout.tensor_parallel_size",
    "generator.gpu_memory_utilization": "rollout.gpu_memory_utilization",
    "generator.enforce_eager": "rollout.enforce_eager",
    "generator.engine_init_kwargs.max_model_len": "rollout.max_model_len",
}
"""Names before 2026, when the keys of the engine lay in `generator` itself."""
SFT: Mapping[str, str] = {
    "model.path": "model.path",
    "model.lora.rank": "model.lora_rank",
    "placement.num_nodes": "slurm.nodes",
    "placement.num_gpus_per_node": "slurm.gpus_per_node",
}
FILES = ("data.train_files", "data.val_files")
"""Settings that name files or data sets of the hub."""
SIGNS = (f"{POLICY}.", f"{PLACEMENT}.", ENGINE, "generator.n_samples_per_prompt", "environment.env_class")
"""Keys that begin so are SkyRL's alone."""


def name_of(key: str) -> str | None:
    return next((own for own, canonical in NAMES.items() if canonical == key), None)
