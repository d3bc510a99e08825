"""The keys of each trainer that the plan has a setting for."""

from collections.abc import Iterable

from skyrl_doctor.plan.dialects.verl.entry_points import EntryPoint
from skyrl_train.contracts.verl_keys import KEYS, SFT_KEYS, Key

_SFT_SHARED = ("trainer.", "data.train_files", "data.val_files")
"""Keys that mean the same to the supervised trainer. Its batches are of samples, not of prompts."""
_WORLD = ("slurm.nodes", "slurm.gpus_per_node")
"""The supervised trainer takes its number of GPUs from torchrun."""
_NO_BATCH = ("data.train_batch_size",)
"""The fully asynchronous trainer counts samples instead of batches; verl wants a zero there."""
_NO_TRAINING = ("main_generation", "main_generation_server", "main_eval")


def trains(entry: EntryPoint) -> bool:
    """Whether the program trains a model. Generation and evaluation do not."""
    return entry.name not in _NO_TRAINING


def keys_of(entry: EntryPoint) -> Iterable[Key]:
    """The rows for a trainer: those of main_ppo but for supervised training, generation and evaluation."""
    if entry.is_sft:
        return (*SFT_KEYS, *(key for key in KEYS if key.verl.startswith(_SFT_SHARED) and key.ours not in _WORLD))
    if entry.name == "fully_async_main":
        return (key for key in KEYS if key.ours not in _NO_BATCH)
    if not trains(entry):
        return (key for key in KEYS if key.ours == "model.path")
    return KEYS
