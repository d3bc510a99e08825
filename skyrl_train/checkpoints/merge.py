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
from skyrl_train.contracts.typed import FormatError, parse_object
from skyrl_train.memory.units import gib
from skyrl_train.process import run

CHILD = Path(__file__).parent.parent / "rl" / "merge_child.py"
WHY_CHARS = 400


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
        made = _run_child((python, str(CHILD), os.path.join(saved.path, role), parts, dtype), limit_s)
        os.rename(parts, to)
    finally:
        shutil.rmtree(parts, ignore_errors=True)
    return Merged(to, made["tensors"], made["adapters"])


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


def _run_child(words: tuple[str, ...], limit_s: float) -> dict[str, int]:
    try:
        done = run(words, limit_s=limit_s)
    except OSError as error:
        raise CheckpointError(
            f"{words[0]}: {error.strerror or error}; pass --python with a Python that has torch and transformers"
        ) from None
    if done.timed_out:
        raise CheckpointError(f"the merge timed out after {limit_s:g} s; pass a larger --limit")
    try:
        output = parse_object(done.text.splitlines()[-1])
        return {"tensors": output.integer("tensors"), "adapters": output.integer("adapters")}
    except (IndexError, FormatError):
        why = (done.error_text.strip().splitlines() or [f"exit status {done.status}"])[-1]
        remedy = "; pass --python with a Python that has torch and transformers" if "No module named" in why else ""
        raise CheckpointError(f"{words[0]} failed to merge: {why[:WHY_CHARS]}{remedy}") from None
