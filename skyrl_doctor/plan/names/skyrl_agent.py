"""The names of SkyRL-agent: the shell variables of a dev.conf and the keys of a task YAML."""

CONF = {
    "MODEL": "model.path",
    "GPU_PARTITION": "slurm.gpu_partition",
    "CPU_PARTITION": "slurm.cpu_partition",
    "GPU_NODES": "slurm.nodes",
    "GPUS_PER_NODE": "slurm.gpus_per_node",
    "TRAINING_CPUS": "slurm.trainer_cpus",
    "CPUS_FOR_RUNTIME": "slurm.runtime_cpus",
    "CPUS_PER_WORKER": "sandbox.cpus",
    "MAX_PARALLEL_AGENTS": "agent.max_parallel",
    "TP_SIZE": "rollout.tensor_parallel_size",
    "SP_SIZE": "actor.sequence_parallel_size",
    "TRAIN_BATCH_SIZE": "data.train_batch_size",
    "BATCH_SIZE": "data.train_batch_size",
    "ROLLOUT_N": "rollout.n",
    "MAX_PROMPT_LENGTH": "data.max_prompt_tokens",
    "MAX_RESPONSE_LENGTH": "data.max_response_tokens",
    "MAX_MODEL_LEN": "rollout.max_model_len",
    "TOTAL_EPOCHS": "trainer.epochs",
    "RUNTIME_READY_TIMEOUT": "slurm.ready_timeout_s",
    "CHECKPOINT_DIR": "trainer.checkpoint_dir",
    "ROLLOUT_DIR": "trainer.rollout_dir",
    "GPU_MEMORY_UTILIZATION": "rollout.gpu_memory_utilization",
}
MEMORY = {
    "TRAINING_MEMORY": "slurm.trainer_memory_mib",
    "RUNTIME_MEMORY": "slurm.runtime_memory_mib",
    "MEMORY_PER_WORKER": "sandbox.memory_mib",
}
TIMES = {
    "TRAINING_TIME_LIMIT": ("slurm.trainer_time_limit",),
    "RUNTIME_TIME_LIMIT": ("slurm.runtime_time_limit",),
    "TIME_LIMIT": ("slurm.trainer_time_limit", "slurm.runtime_time_limit"),
}
"""The limit of a single job takes precedence over TIME_LIMIT."""
LISTS = {
    "TRAIN_DATA": "data.train_files",
    "VAL_DATA": "data.val_files",
    "EXCLUDE_NODES": "slurm.exclude",
    "EXCLUDED_NODES": "slurm.exclude",
}
TASK = {
    "generator.num_trajectories": "agent.trajectories",
    "generator.max_iterations": "agent.max_turns",
    "generator.max_prompt_length": "agent.max_response_tokens",
    "generator.sampling_params.max_tokens": "rollout.max_tokens",
    "generator.sampling_params.temperature": "rollout.temperature",
    "generator.sampling_params.top_p": "rollout.top_p",
    "generator.sampling_params.top_k": "rollout.top_k",
    "generator.sampling_params.stop": "rollout.stop",
    "generator.sampling_params.include_stop_str_in_output": "rollout.keep_stop",
    "generator.qwen3_enable_thinking": "agent.enable_thinking",
    "dispatcher.max_parallel_agents": "agent.max_parallel",
}
"""SkyRL-agent uses generator.max_prompt_length as the limit of the RESPONSE of a rollout over all turns."""
CONF_SIGNS = frozenset({*CONF, *MEMORY, *TIMES, *LISTS})


def name_of(key: str) -> str | None:
    """The name of a canonical key in a dev.conf, or else in the task YAML."""
    names = (*CONF.items(), *MEMORY.items(), *((name, keys[0]) for name, keys in TIMES.items()), *LISTS.items())
    return next((name for name, canonical in (*names, *TASK.items()) if canonical == key), None)


def is_name(name: str) -> bool:
    """Whether SkyRL-agent's two files have a setting of this name."""
    return name in CONF_SIGNS or name in TASK
