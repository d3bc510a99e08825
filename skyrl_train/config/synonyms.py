"""Names that other frameworks have for the settings of a run: for a hint, never for an edit. Pure."""

from collections.abc import Iterable

_NAMES = {
    "learning_rate lr": "actor.lr critic.lr",
    "max_grad_norm max_norm gradient_clipping clip_grad": "actor.grad_clip",
    "mini_batch_size ppo_mini_batch_size policy_mini_batch_size": "actor.ppo_mini_batch_size",
    "micro_batch_size per_device_train_batch_size micro_train_batch_size_per_gpu": "actor.micro_batch_size_per_gpu",
    "gradient_checkpointing enable_gradient_checkpointing activation_checkpointing ac": "model.gradient_checkpointing",
    "entropy_coeff entropy_coef": "actor.entropy_coefficient",
    "use_kl_loss": "actor.kl_loss",
    "kl_loss_coef kl_coef beta": "actor.kl_loss_coefficient algorithm.kl_coefficient",
    "adv_estimator advantage_estimator": "algorithm.advantage",
    "batch_size train_batch_size global_batch_size": "data.train_batch_size",
    "train_data train_file train_dataset dataset": "data.train_files",
    "val_data val_file test_files eval_dataset": "data.val_files",
    "max_prompt_length prompt_length": "data.max_prompt_tokens",
    "max_response_length": "data.max_response_tokens",
    "model_name model_name_or_path name": "model.path",
    "attn attn_implementation": "model.attention",
    "num_generations group_size rollouts_per_example n_samples_per_prompt num_return_sequences": "rollout.n",
    "max_new_tokens max_completion_tokens max_generate_length response_length": "rollout.max_tokens",
    "max_length max_seq_len seq_len context_length max_model_length": "rollout.max_model_len",
    "tp tp_size tensor_model_parallel_size": "rollout.tensor_parallel_size",
    "ulysses_sequence_parallel_size sp_size": "actor.sequence_parallel_size",
    "num_gpus n_gpus gpus n_gpus_per_node num_gpus_per_node": "slurm.gpus_per_node",
    "nnodes num_nodes n_nodes": "slurm.nodes",
    "num_epochs total_epochs num_train_epochs": "trainer.epochs",
    "max_steps num_steps total_training_steps": "trainer.steps",
    "save_freq save_steps save_interval": "trainer.save_every_steps",
    "test_freq eval_freq eval_steps eval_interval": "trainer.validate_every_steps",
    "default_local_dir output_dir save_dir ckpt_path": "trainer.checkpoint_dir",
    "project_name wandb_project": "trainer.project",
    "experiment_name run_name": "trainer.experiment",
}
_SETTINGS = {name: settings.split() for names, settings in _NAMES.items() for name in names.split()}


def other_names(setting: str) -> list[str]:
    """The names that other frameworks have for a setting."""
    return [name for name, settings in _SETTINGS.items() if setting in settings]


def likely_settings(key: str, *, among: Iterable[str] = ()) -> list[str]:
    """The settings that a key of another framework stands for, those of its own table first. `among` limits them."""
    table, _, name = key.replace("-", "_").lower().rpartition(".")
    limits = set(among)
    found = [one for one in _SETTINGS.get(name, []) if not limits or one in limits]
    own = [one for one in found if one.partition(".")[0] == table]
    return own or found
