"""Translates a RunConfig into overrides of verl 0.9.1. Pure: verl is not imported."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from skyrl_train.checkpoints.places import checkpoint_root
from skyrl_train.config.run import RunConfig
from skyrl_train.config.tasks import refuse_without_tasks
from skyrl_train.rl import seeds

Value = bool | int | float | str | None | list["Value"] | dict[str, "Value"]

A, M, R = "actor_rollout_ref.actor", "actor_rollout_ref.model", "actor_rollout_ref.rollout"
AGENT_LOOPS = "agent_loops.yaml"
"""A file in the job directory that names the class of the agent loop for verl."""
GRAPHS = '{"mode": 0, "cudagraph_mode": "FULL_DECODE_ONLY"}'
"""vLLM's CUDA graphs for decoding without torch.compile: captured in seconds, while compiling takes almost a minute."""
SAMPLER, TASKS = "pkg://skyrl_train.rl.sampler", "pkg://skyrl_train.rl.tasks"
SAVING = "skyrl_train.rl.saving.Saving"
# a quote or the end, with the backslashes before it; other backslashes are literal, as in '.*\.q_proj'
_TO_ESCAPE = re.compile(r"(\\*)('|\Z)")


@dataclass(frozen=True, slots=True)
class Place:
    """The directories of a run: the job directory, and the base of relative paths in its configuration."""

    job_dir: str
    work_dir: str

    def of(self, path: str) -> str:
        return os.path.join(self.work_dir, os.path.expanduser(path))


def overrides(config: RunConfig, place: Place, start: Mapping[str, Value]) -> list[str]:
    """The overrides for verl's command line.

    `start` holds those of the checkpoint to resume from (skyrl_train.checkpoints.resume). `trainer.verl_overrides` come
    last and take precedence.
    """
    refuse_without_tasks(config)
    sections = (_model, _data, _rollout, _actor, _critic, _algorithm, _trainer, _processes)
    values = {key: value for section in sections for key, value in section(config, place).items()}
    values |= {**seeds.words(config, rollout=R, actor=A), **start}
    own = config.trainer.verl_overrides
    added = {
        f"+{word.partition('=')[0].lstrip('+')}" for word in own if word[:1] == "+"
    }  # Hydra refuses to add a key twice
    return [*(f"{key}={text(value)}" for key, value in values.items() if key not in added), *own]


def text(value: Value) -> str:
    """A value in Hydra's grammar."""
    match value:
        case bool():
            return str(value).lower()
        case None:
            return "null"
        case str():
            return "'" + _TO_ESCAPE.sub(lambda run: 2 * run[1] + run[2].replace("'", r"\'"), value) + "'"
        case list():
            return f"[{','.join(map(text, value))}]"
        case dict():
            return "{" + ",".join(f"{key}:{text(inner)}" for key, inner in value.items()) + "}"
    return repr(value)


def _model(config: RunConfig, place: Place) -> dict[str, Value]:
    model = config.model
    return {
        f"{M}.path": _local(model.path, place),
        f"{M}.tokenizer_path": None if model.tokenizer is None else _local(model.tokenizer, place),
        f"{M}.trust_remote_code": model.trust_remote_code,
        f"+{M}.override_config.attn_implementation": model.attention,
        f"{M}.use_remove_padding": model.remove_padding,
        f"{M}.enable_gradient_checkpointing": model.gradient_checkpointing,
        f"{M}.use_fused_kernels": model.fused_kernels,
        f"{M}.lora_rank": model.lora_rank,
        f"{M}.lora_alpha": int(model.lora_alpha) if float(model.lora_alpha).is_integer() else model.lora_alpha,
        f"{M}.target_modules": model.lora_targets[0] if len(model.lora_targets) == 1 else list(model.lora_targets),
    }


def _data(config: RunConfig, place: Place) -> dict[str, Value]:
    data = config.data
    return {
        "data.train_files": [place.of(path) for path in data.train_files],
        "data.val_files": [place.of(path) for path in data.val_files],
        "data.val_batch_size": None if data.val_files else 1,  # the default of 0 for no rows is refused by the loader
        "data.custom_cls.path": TASKS,
        "data.custom_cls.name": "Tasks",
        "data.prompt_key": data.prompt_key,
        "data.train_batch_size": data.train_batch_size,
        "data.max_prompt_length": data.max_prompt_tokens,
        "data.max_response_length": data.max_response_tokens,
        "data.shuffle": data.shuffle,
        "data.seed": data.seed,
        "data.dataloader_num_workers": data.loader_workers,
    }


def _rollout(config: RunConfig, place: Place) -> dict[str, Value]:
    rollout = config.rollout
    graphs = {} if rollout.enforce_eager else {f"+{R}.engine_kwargs.vllm.compilation_config": GRAPHS}
    return {
        **graphs,
        f"{R}.name": "vllm",
        f"{R}.n": rollout.n,
        f"{R}.max_model_len": rollout.max_model_len,
        f"{R}.temperature": rollout.temperature,
        f"{R}.top_p": rollout.top_p,
        f"{R}.top_k": rollout.top_k,
        f"{R}.gpu_memory_utilization": rollout.gpu_memory_utilization,
        f"{R}.free_cache_engine": rollout.free_cache_engine,
        f"{R}.enforce_eager": rollout.enforce_eager,
        f"{R}.tensor_model_parallel_size": rollout.tensor_parallel_size,
        f"{R}.max_num_seqs": rollout.max_sequences,
        f"{R}.max_num_batched_tokens": rollout.max_batched_tokens,
        f"{R}.enable_prefix_caching": rollout.prefix_caching,
        f"{R}.enable_chunked_prefill": rollout.chunked_prefill,
        f"{R}.load_format": rollout.load_format,
        f"{R}.log_prob_micro_batch_size_per_gpu": rollout.log_prob_micro_batch_size_per_gpu,
        "actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu": rollout.log_prob_micro_batch_size_per_gpu,
        f"{R}.seed": config.trainer.seed,
        f"{R}.calculate_log_probs": True,
        f"{R}.agent.num_workers": rollout.agent_workers,
        f"{R}.agent.default_agent_loop": "skyrl",
        f"{R}.agent.agent_loop_config_path": os.path.join(place.job_dir, AGENT_LOOPS),
    }


def _actor(config: RunConfig, place: Place) -> dict[str, Value]:
    del place
    actor = config.actor
    return {
        f"{A}.strategy": actor.strategy,
        f"{A}.optim.lr": actor.lr,
        f"{A}.ppo_mini_batch_size": actor.ppo_mini_batch_size,
        f"{A}.ppo_micro_batch_size_per_gpu": actor.micro_batch_size_per_gpu,
        f"{A}.use_dynamic_bsz": actor.dynamic_batch_size,
        f"{A}.ppo_max_token_len_per_gpu": actor.max_tokens_per_gpu,
        f"{A}.ppo_epochs": actor.ppo_epochs,
        f"{A}.clip_ratio": actor.clip_ratio,
        f"{A}.clip_ratio_low": actor.clip_ratio,
        f"{A}.clip_ratio_high": actor.clip_ratio,
        f"{A}.grad_clip": actor.grad_clip,
        f"{A}.entropy_coeff": actor.entropy_coefficient,
        f"{A}.use_kl_loss": actor.kl_loss,
        f"{A}.kl_loss_coef": actor.kl_loss_coefficient,
        f"{A}.data_loader_seed": config.trainer.seed,
        f"{A}.fsdp_config.param_offload": actor.param_offload,
        f"{A}.fsdp_config.optimizer_offload": actor.optimizer_offload,
        f"{A}.fsdp_config.offload_policy": actor.cpu_offload,
        f"{A}.fsdp_config.model_dtype": actor.model_dtype,
        f"{A}.fsdp_config.seed": config.trainer.seed,
        f"{A}.use_torch_compile": actor.torch_compile,
        f"{A}.fsdp_config.use_torch_compile": actor.torch_compile,
        "actor_rollout_ref.ref.fsdp_config.use_torch_compile": actor.torch_compile,
        "actor_rollout_ref.ref.fsdp_config.param_offload": actor.param_offload,
        f"{A}.entropy_from_logits_with_chunking": actor.entropy_chunking,
        f"{A}.entropy_checkpointing": actor.entropy_checkpointing,
        f"{A}.ulysses_sequence_parallel_size": actor.sequence_parallel_size,
    }


def _critic(config: RunConfig, place: Place) -> dict[str, Value]:
    """The critic's settings. Without a critic they are left out, since verl would build them and fail on a part."""
    critic, model = config.critic, config.model
    if not config.needs_critic:
        return {"critic.enable": False}
    path = _local(critic.path or model.path, place)
    return {
        "critic.enable": True,
        "critic.strategy": config.actor.strategy,
        "critic.model.path": path,
        "critic.model.tokenizer_path": _local(model.tokenizer or critic.path or model.path, place),
        "critic.model.trust_remote_code": model.trust_remote_code,
        "critic.model.use_remove_padding": model.remove_padding,
        "critic.model.enable_gradient_checkpointing": model.gradient_checkpointing,
        "+critic.model.override_config.attn_implementation": model.attention,
        "critic.optim.lr": critic.lr,
        "critic.ppo_micro_batch_size_per_gpu": critic.micro_batch_size_per_gpu,
        "critic.fsdp.param_offload": critic.param_offload,
        "critic.fsdp.optimizer_offload": critic.optimizer_offload,
        "critic.fsdp.use_torch_compile": config.actor.torch_compile,
        "critic.fsdp.seed": config.trainer.seed,
        "critic.data_loader_seed": config.trainer.seed,
    }


def _algorithm(config: RunConfig, place: Place) -> dict[str, Value]:
    del place
    algorithm = config.algorithm
    return {
        "algorithm.adv_estimator": algorithm.advantage,
        "algorithm.gamma": algorithm.gamma,
        "algorithm.lam": algorithm.lam,
        "algorithm.norm_adv_by_std_in_grpo": algorithm.normalize_by_std,
        "algorithm.use_kl_in_reward": algorithm.kl_in_reward,
        "algorithm.kl_ctrl.kl_coef": algorithm.kl_coefficient,
    }


def _trainer(config: RunConfig, place: Place) -> dict[str, Value]:
    trainer = config.trainer
    return {
        "trainer.nnodes": config.slurm.nodes,
        "trainer.n_gpus_per_node": config.slurm.gpus_per_node,
        "trainer.project_name": trainer.project,
        "trainer.experiment_name": trainer.experiment,
        "trainer.logger": list(trainer.logger),
        # if steps are set, the number of epochs must not end the run
        "trainer.total_epochs": max(trainer.epochs, trainer.steps or 0),
        "trainer.total_training_steps": trainer.steps,
        "trainer.save_freq": trainer.save_every_steps,
        "trainer.test_freq": trainer.validate_every_steps,
        "trainer.val_before_train": trainer.validate_first,
        "trainer.default_local_dir": checkpoint_root(config, place.work_dir),
        "trainer.checkpoint_callback_class": SAVING,
        "trainer.use_v1": True,
        "trainer.v1.trainer_mode": "sync",
        "trainer.v1.sampler.custom_sampler.path": SAMPLER,
        "trainer.v1.sampler.custom_sampler.name": "Sampler",
        "+trainer.v1.sampler.sampler_kwargs.job_dir": place.job_dir,
    }


def _processes(config: RunConfig, place: Place) -> dict[str, Value]:
    """Settings that start no needless process, since each imports torch and verl for many seconds.

    Rollouts are scored where they run, so verl's reward workers are not needed. A model on one GPU needs only the engine's
    process.
    """
    del place
    alone = {f"+{R}.engine_kwargs.vllm.distributed_executor_backend": "uni"}
    return {
        **(alone if config.rollout.tensor_parallel_size == 1 else {}),
        "reward.num_workers": 0,
        "transfer_queue.backend.SimpleStorage.num_data_storage_units": config.slurm.nodes,
        "+ray_kwargs.ray_init.include_dashboard": False,
    }


def _local(path: str, place: Place) -> str:
    """The full path of a local directory, or the unchanged name of a hub model."""
    found = place.of(path)
    return found if os.path.isdir(found) else path
