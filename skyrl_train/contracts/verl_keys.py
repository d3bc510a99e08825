"""Our settings and the keys of verl 0.9.1: the one table of both. To support another key, add a row.

The table drives the overrides that `skyrl_train.rl.overrides` makes of a RunConfig, the doctor's reader of verl command
lines, and the memory model's job. A setting is named as RunConfig names it, or as `skyrl_doctor.plan.keys.EXTRA` does.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any

from skyrl_train.contracts.record import record

A, M, R = "actor_rollout_ref.actor", "actor_rollout_ref.model", "actor_rollout_ref.rollout"
F, REF, C = f"{A}.fsdp_config", "actor_rollout_ref.ref", "critic"
CRITIC = f"{C}."
"""Keys that begin so are written only where a critic is trained."""
ATTENTION = "override_config.attn_implementation"
EXECUTOR, GRAPHS, WORKER = (
    f"{R}.engine_kwargs.vllm.{name}"
    for name in ("distributed_executor_backend", "compilation_config", "worker_extension_cls")
)
CORRECTION = "algorithm.rollout_correction.rollout_is"
"""Weighs each token by the trainer's probability over the one with which it was sampled, where rollouts are older than a step."""
SAMPLER_JOB, DASHBOARD = "trainer.v1.sampler.sampler_kwargs.job_dir", "ray_kwargs.ray_init.include_dashboard"


OWN_NODES, OWN_GPUS = f"{R}.nnodes", f"{R}.n_gpus_per_node"
"""Where model servers have GPUs of their own: the nodes, and the GPUs of each."""
SHARED = "actor_rollout_ref.hybrid_engine"
"""Whether the trainer's GPUs have model servers."""
MODE, SEPARATE = "trainer.v1.trainer_mode", "separate_async"
UPDATES, MERGED = "trainer.v1.separate_async.parameter_sync_step", f"{M}.lora.merge"
SENDER, SENDERS_MODULE = (f"{R}.checkpoint_engine.{name}" for name in ("backend", "custom_backend_module"))
"""The program that sends weights to servers on other GPUs, and the module that has it."""


class Use(StrEnum):
    """BOTH: written as it is and read. COMPUTED: read; rl/overrides computes what it writes."""

    BOTH = "both"
    READ = "read"
    WRITE = "write"
    COMPUTED = "computed"


def same(value: Any) -> Any:
    return value


def as_list(value: Any) -> Any:
    """verl also takes one text where a list is expected."""
    return [value] if isinstance(value, str) else list(value) if isinstance(value, tuple) else value


def one_or_list(value: Any) -> Any:
    """PEFT reads a single text as a pattern or as `all-linear`."""
    if not isinstance(value, list | tuple):
        return value
    return value[0] if len(value) == 1 else list(value)


def whole_if_whole(value: Any) -> Any:
    """verl's schema has a whole number here, ours has any number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


@record
class Key:
    """A setting (`ours`) and its key in verl.

    `also`: further keys that are written with the same value. `before` and `older`: keys in which the memory model looks
    for the value before and after `verl`. `words`: our word for a value, and verl's.
    """

    ours: str
    verl: str
    use: Use = Use.BOTH
    also: tuple[str, ...] = field(default=(), kw_only=True)
    before: tuple[str, ...] = field(default=(), kw_only=True)
    older: tuple[str, ...] = field(default=(), kw_only=True)
    words: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    write: Callable[[Any], Any] = field(default=same, kw_only=True)
    read: Callable[[Any], Any] = field(default=same, kw_only=True)

    @property
    def names(self) -> tuple[str, ...]:
        """The keys in which the memory model looks for the value, the first one that is set wins."""
        return (*self.before, self.verl, *self.older)

    @property
    def is_read(self) -> bool:
        return self.use is not Use.WRITE

    @property
    def is_written(self) -> bool:
        return self.use in (Use.BOTH, Use.WRITE)

    def to_verl(self, value: Any) -> Any:
        """Our value as verl takes it."""
        return self.words.get(value, value) if self.words and isinstance(value, str) else self.write(value)

    def from_verl(self, value: Any) -> Any:
        """verl's value as RunConfig has it."""
        ours = {theirs: word for word, theirs in self.words.items()}
        return ours.get(value, value) if ours and isinstance(value, str) else self.read(value)


_MODEL = (
    Key("model.path", f"{M}.path", Use.COMPUTED),
    Key("model.tokenizer", f"{M}.tokenizer_path", Use.COMPUTED),
    Key("model.trust_remote_code", f"{M}.trust_remote_code", also=(f"{C}.model.trust_remote_code",)),
    Key("model.attention", f"{M}.{ATTENTION}", also=(f"{C}.model.{ATTENTION}",)),
    Key("model.remove_padding", f"{M}.use_remove_padding", also=(f"{C}.model.use_remove_padding",)),
    Key(
        "model.gradient_checkpointing",
        f"{M}.enable_gradient_checkpointing",
        also=(f"{C}.model.enable_gradient_checkpointing",),
    ),
    Key("model.fused_kernels", f"{M}.use_fused_kernels"),
    Key("model.lora_rank", f"{M}.lora_rank", older=(f"{M}.lora.rank",)),
    Key("model.lora_alpha", f"{M}.lora_alpha", write=whole_if_whole),
    Key("model.lora_targets", f"{M}.target_modules", Use.WRITE, write=one_or_list),
)
_DATA = (
    Key("data.train_files", "data.train_files", Use.COMPUTED, read=as_list),
    Key("data.val_files", "data.val_files", Use.COMPUTED, read=as_list),
    Key("data.prompt_key", "data.prompt_key"),
    Key("data.train_batch_size", "data.train_batch_size"),
    Key("data.max_prompt_tokens", "data.max_prompt_length"),
    Key("data.max_response_tokens", "data.max_response_length"),
    Key("data.shuffle", "data.shuffle"),
    Key("data.seed", "data.seed", Use.WRITE),
    Key("data.loader_workers", "data.dataloader_num_workers"),
)
_ROLLOUT = (
    Key("rollout.engine", f"{R}.name", Use.READ),
    Key("rollout.n", f"{R}.n"),
    Key("rollout.max_model_len", f"{R}.max_model_len"),
    Key("rollout.max_tokens", f"{R}.response_length", Use.READ),  # each call of the agent names its own limit
    Key("rollout.temperature", f"{R}.temperature"),
    Key("rollout.top_p", f"{R}.top_p"),
    Key("rollout.top_k", f"{R}.top_k"),
    Key("rollout.gpu_memory_utilization", f"{R}.gpu_memory_utilization"),
    Key("rollout.free_cache_engine", f"{R}.free_cache_engine"),
    Key("rollout.enforce_eager", f"{R}.enforce_eager"),
    Key("rollout.tensor_parallel_size", f"{R}.tensor_model_parallel_size"),
    Key("rollout.max_sequences", f"{R}.max_num_seqs"),
    Key("rollout.max_batched_tokens", f"{R}.max_num_batched_tokens"),
    Key("rollout.prefix_caching", f"{R}.enable_prefix_caching"),
    Key("rollout.chunked_prefill", f"{R}.enable_chunked_prefill"),
    Key("rollout.load_format", f"{R}.load_format"),
    Key(
        "rollout.log_prob_micro_batch_size_per_gpu",
        f"{R}.log_prob_micro_batch_size_per_gpu",
        also=(f"{REF}.log_prob_micro_batch_size_per_gpu",),
    ),
    Key("rollout.agent_workers", f"{R}.agent.num_workers"),
)
_ACTOR = (
    Key("actor.strategy", f"{A}.strategy", also=(f"{C}.strategy",)),
    Key("actor.lr", f"{A}.optim.lr"),
    Key("actor.ppo_mini_batch_size", f"{A}.ppo_mini_batch_size"),
    Key("actor.micro_batch_size_per_gpu", f"{A}.ppo_micro_batch_size_per_gpu"),
    Key("actor.dynamic_batch_size", f"{A}.use_dynamic_bsz"),
    Key("actor.max_tokens_per_gpu", f"{A}.ppo_max_token_len_per_gpu"),
    Key("actor.ppo_epochs", f"{A}.ppo_epochs"),
    Key("actor.clip_ratio", f"{A}.clip_ratio", also=(f"{A}.clip_ratio_low", f"{A}.clip_ratio_high")),
    Key("actor.grad_clip", f"{A}.grad_clip"),
    Key("actor.entropy_coefficient", f"{A}.entropy_coeff"),
    Key("actor.kl_loss", f"{A}.use_kl_loss"),
    Key("actor.kl_loss_coefficient", f"{A}.kl_loss_coef"),
    Key("actor.param_offload", f"{F}.param_offload", also=(f"{REF}.fsdp_config.param_offload",)),
    Key("actor.optimizer_offload", f"{F}.optimizer_offload"),
    Key("actor.cpu_offload", f"{F}.offload_policy"),
    Key("actor.model_dtype", f"{F}.model_dtype"),
    Key(
        "actor.torch_compile",
        f"{A}.use_torch_compile",
        also=(f"{F}.use_torch_compile", f"{REF}.fsdp_config.use_torch_compile", f"{C}.fsdp.use_torch_compile"),
    ),
    Key(
        "actor.entropy_chunking",
        f"{A}.entropy_from_logits_with_chunking",
        before=(f"{F}.entropy_from_logits_with_chunking",),
    ),
    Key("actor.entropy_checkpointing", f"{A}.entropy_checkpointing", before=(f"{F}.entropy_checkpointing",)),
    Key("actor.sequence_parallel_size", f"{A}.ulysses_sequence_parallel_size"),
)
_CRITIC = (
    Key("critic.path", f"{C}.model.path", Use.COMPUTED),
    Key("critic.lr", f"{C}.optim.lr"),
    Key("critic.micro_batch_size_per_gpu", f"{C}.ppo_micro_batch_size_per_gpu"),
    Key("critic.param_offload", f"{C}.fsdp.param_offload", older=(f"{C}.model.fsdp_config.param_offload",)),
    Key("critic.optimizer_offload", f"{C}.fsdp.optimizer_offload", older=(f"{C}.model.fsdp_config.optimizer_offload",)),
)
_ALGORITHM = (
    Key("algorithm.advantage", "algorithm.adv_estimator"),
    Key("algorithm.gamma", "algorithm.gamma"),
    Key("algorithm.lam", "algorithm.lam"),
    Key("algorithm.normalize_by_std", "algorithm.norm_adv_by_std_in_grpo"),
    Key("algorithm.kl_in_reward", "algorithm.use_kl_in_reward"),
    Key("algorithm.kl_coefficient", "algorithm.kl_ctrl.kl_coef"),
)
_TRAINER = (
    Key("slurm.nodes", "trainer.nnodes", also=("transfer_queue.backend.SimpleStorage.num_data_storage_units",)),
    Key("slurm.gpus_per_node", "trainer.n_gpus_per_node"),
    Key("trainer.logger", "trainer.logger", write=as_list, read=as_list),
    Key("trainer.project", "trainer.project_name"),
    Key("trainer.experiment", "trainer.experiment_name"),
    Key("trainer.mode", MODE, Use.WRITE),
    Key(
        "trainer.batches_ahead",
        "trainer.v1.colocate_async.num_warmup_batches",
        Use.WRITE,
        also=("trainer.v1.separate_async.num_warmup_batches",),
    ),
    Key("trainer.max_staleness", "trainer.v1.sampler.max_off_policy_threshold", Use.WRITE),
    Key("trainer.epochs", "trainer.total_epochs", Use.COMPUTED),
    Key("trainer.steps", "trainer.total_training_steps"),
    Key("trainer.save_every_steps", "trainer.save_freq"),
    Key("trainer.validate_every_steps", "trainer.test_freq"),
    Key("trainer.validate_first", "trainer.val_before_train"),
    Key("trainer.validate_samples", f"{R}.val_kwargs.n"),
    Key("trainer.checkpoint_dir", "trainer.default_local_dir", Use.COMPUTED),
    Key("trainer.checkpoints_to_keep", "trainer.max_actor_ckpt_to_keep", Use.COMPUTED),
    Key("trainer.resume", "trainer.resume_mode", Use.COMPUTED, words={"path": "resume_path"}),
    Key("trainer.resume_from", "trainer.resume_from_path", Use.COMPUTED),
    Key("trainer.rollout_dir", "trainer.rollout_data_dir", Use.READ),
    Key("trainer.use_v1", "trainer.use_v1", Use.READ),
    Key("agent.trajectories", "skyrl_agent.num_trajectories", Use.READ),
    Key(
        "trainer.seed",
        f"{R}.seed",
        Use.WRITE,
        also=(f"{A}.data_loader_seed", f"{F}.seed", f"{C}.fsdp.seed", f"{C}.data_loader_seed"),
    ),
)
KEYS: tuple[Key, ...] = (*_MODEL, *_DATA, *_ROLLOUT, *_ACTOR, *_CRITIC, *_ALGORITHM, *_TRAINER)
"""Every row; `ours` is unique, and so is `verl`."""
CONSTANTS: Mapping[str, Any] = {
    "data.custom_cls.path": "pkg://skyrl_train.rl.tasks",
    "data.custom_cls.name": "Tasks",
    f"{R}.name": "vllm",
    f"{R}.calculate_log_probs": True,
    f"{R}.agent.default_agent_loop": "skyrl",
    "trainer.checkpoint_callback_class": "skyrl_train.rl.saving.Saving",
    "trainer.use_v1": True,
    "trainer.v1.sampler.max_off_policy_strategy": "wait",
    "trainer.v1.sampler.custom_sampler.path": "pkg://skyrl_train.rl.sampler",
    "trainer.v1.sampler.custom_sampler.name": "Sampler",
    # Each process imports torch and verl for many seconds. Rollouts are scored where they run, so verl's reward workers
    # are not needed.
    "reward.num_workers": 0,
    DASHBOARD: False,
}
"""What every run of ours sets in verl."""
ADDED = frozenset({f"{M}.{ATTENTION}", f"{C}.model.{ATTENTION}", EXECUTOR, GRAPHS, WORKER, SAMPLER_JOB, DASHBOARD})
"""Keys that verl's own tree lacks: Hydra takes them only with a plus."""
WITHOUT_DEFAULT = frozenset({"algorithm.gdpo_reward_keys", "algorithm.gdpo_reward_weights"})
"""Keys that verl reads since 0.8, and that its tree lacks too."""
RENAMED = {f"{A}.checkpoint.contents": f"{A}.checkpoint.save_contents", "model.partial_pretrain": "model.path"}
"""Keys of older versions and older trainers of verl, and today's."""
RENAMED_PREFIXES = {"ray_init.": "ray_kwargs.ray_init."}
SFT_KEYS = (
    Key("model.path", "model.partial_pretrain", Use.READ),
    Key("model.path", "model.path", Use.READ),
    Key("model.trust_remote_code", "model.trust_remote_code", Use.READ),
    Key("model.gradient_checkpointing", "model.enable_gradient_checkpointing", Use.READ),
    Key("model.lora_rank", "model.lora_rank", Use.READ),
)
"""Keys of verl's supervised trainer, which the doctor reads. Older releases name the model `partial_pretrain`."""
_BY_SETTING = {key.ours: key for key in KEYS}
_BY_VERL = {key.verl: key for key in KEYS}


def by_setting(ours: str) -> Key | None:
    """The row of a setting of ours."""
    return _BY_SETTING.get(ours)


def by_verl(verl: str) -> Key | None:
    """The row of a key of verl."""
    return _BY_VERL.get(verl)


def key_of(ours: str) -> str:
    """verl's key of a setting that the table has."""
    return _BY_SETTING[ours].verl


def names(ours: str) -> tuple[str, ...]:
    """The keys in which the memory model looks for a setting."""
    return _BY_SETTING[ours].names


def hydra_key(verl: str) -> str:
    """A key as it is written on verl's command line."""
    return f"+{verl}" if verl in ADDED else verl


def written(values: Mapping[str, Any], *, also: bool = True) -> Iterator[tuple[str, Any]]:
    """verl's keys and values of settings of ours. Without `also`, one key a setting, as other programs write it."""
    for key in KEYS:
        if key.ours in values and (also or key.is_read):
            value = key.to_verl(values[key.ours])
            yield from ((verl, value) for verl in (key.verl, *(key.also if also else ())))


def renamed(verl: str) -> str | None:
    """Today's name of a key of an older verl."""
    return RENAMED.get(verl) or next(
        (new + verl[len(old) :] for old, new in RENAMED_PREFIXES.items() if verl.startswith(old)), None
    )


def overrides(values: Mapping[str, Any], *, critic: bool) -> Iterator[tuple[str, Any]]:
    """What a configuration of ours sets in verl, without the computed keys: command-line key and value."""
    for verl, value in written({key.ours: values[key.ours] for key in KEYS if key.is_written}):
        if critic or not verl.startswith(CRITIC):
            yield hydra_key(verl), value
    yield from ((hydra_key(verl), value) for verl, value in CONSTANTS.items())
