"""Makes a Hugging Face model of a checkpoint, in a child process under a Python with torch and transformers.

verl's own merger (`python -m verl.model_merger`) unpickles its input. Of a LoRA run it writes the base model with the
adapter next to it, which loads as an untrained model. Ours loads only tensors, merges the adapter into the weights, and
gives the directory its name when it is complete.
"""

import os
import shutil
from pathlib import Path
from typing import NamedTuple

from skyrl_train.checkpoints.errors import CheckpointError
from skyrl_train.checkpoints.saved import Saved, listed
from skyrl_train.contracts.amount import amount
from skyrl_train.contracts.checkpoints import layout
from skyrl_train.memory.units import gib
from skyrl_train.torch_child import output_of

CHILD = Path(__file__).parent.parent / "rl" / "merge_child.py"


class Merged(NamedTuple):
    """The model's directory, its number of tensors, and the number of tensors with a merged adapter."""

    to: str
    tensors: int
    adapters: int

    @property
    def what(self) -> str:
        with_adapters = f", {self.adapters} of them with the adapter merged" if self.adapters else ""
        return f"model with {amount(self.tensors, 'tensor')}{with_adapters}"


def merge(saved: Saved, to: str, *, role: str = "actor", dtype: str = "bf16", python: str, limit_s: float) -> Merged:
    """Makes the model. CheckpointError if the checkpoint, the target or the Python cannot be used; then nothing is made."""
    to = os.path.abspath(to)
    _check_usable(saved, to, role)
    parts = f"{to}.{os.getpid()}.part"
    try:
        words = (python, str(CHILD), os.path.join(saved.path, role), parts, dtype)
        tensors, adapters = output_of(
            words,
            lambda output: (output.integer("tensors"), output.integer("adapters")),
            what="the merge",
            limit_s=limit_s,
            error=CheckpointError,
        )
        os.rename(parts, to)
    finally:
        shutil.rmtree(parts, ignore_errors=True)
    return Merged(to, tensors, adapters)


def _check_usable(saved: Saved, to: str, role: str) -> None:
    listing = dict(listed(saved.path))
    faults = [fault for fault in layout.lacks(listing, kinds=("model",)) if fault.startswith(f"{role}/")]
    if not layout.shards(listing, role):
        faults = [f"{role}/ has no model shard"]
    if faults:
        raise CheckpointError(f"{saved.path} cannot be merged: {'; '.join(faults)}")
    if os.path.lexists(to):
        raise CheckpointError(f"{to} exists already; name a new directory")
    if not os.path.isdir(os.path.dirname(to)):
        raise CheckpointError(f"{os.path.dirname(to)} is not a directory; make it first, or name another one")
    free, size = shutil.disk_usage(os.path.dirname(to)).free, sum(layout.shards(listing, role).values())
    if free < size // 2:
        raise CheckpointError(
            f"{os.path.dirname(to)} has {gib(free):.2f} GiB free, but the model needs about {gib(size // 2):.2f} GiB"
        )
