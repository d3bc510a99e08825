"""A Hugging Face model of a checkpoint, made by a child process of an interpreter that has torch and transformers.

verl's own merger (`python -m verl.model_merger`) unpickles what it is given, and of a LoRA run it writes the base model with
the adapter beside it: loaded as a model that is one without its training. Ours loads tensors alone, puts the adapter into the
weights, and gives the directory its name when all of it is there.
"""

import os
import shutil
from pathlib import Path
from typing import NamedTuple

from skyrl_train.checkpoints.errors import CheckpointError
from skyrl_train.checkpoints.saved import Saved, listed
from skyrl_train.contracts.checkpoints import layout
from skyrl_train.contracts.typed import FormatError, parse_object
from skyrl_train.process import run

CHILD = Path(__file__).parent.parent / "rl" / "merge_child.py"
WHY_CHARS = 400


class Merged(NamedTuple):
    """Where the model is, how many tensors it has, and of how many of them an adapter was put into the weights."""

    to: str
    tensors: int
    adapters: int

    @property
    def what(self) -> str:
        with_adapters = f", {self.adapters} of them with the adapter in it" if self.adapters else ""
        return f"a model of {self.tensors} tensors{with_adapters}"


def merge(saved: Saved, to: str, *, role: str = "actor", dtype: str = "bf16", python: str, limit_s: float) -> Merged:
    """CheckpointError where the checkpoint, the target or the interpreter cannot be used. The target is whole or absent."""
    to = os.path.abspath(to)
    _usable(saved, to, role)
    parts = f"{to}.{os.getpid()}.part"
    try:
        made = _asked((python, str(CHILD), os.path.join(saved.path, role), parts, dtype), limit_s)
        os.rename(parts, to)
    finally:
        shutil.rmtree(parts, ignore_errors=True)
    return Merged(to, made["tensors"], made["adapters"])


def _usable(saved: Saved, to: str, role: str) -> None:
    listing = dict(listed(saved.path))
    faults = [fault for fault in layout.lacks(listing, kinds=("model",)) if fault.startswith(f"{role}/")]
    if not layout.shards(listing, role):
        faults = [f"{role}/ has no shard of a model"]
    if faults:
        raise CheckpointError(f"{saved.path} cannot be merged: {'; '.join(faults)}")
    if os.path.lexists(to):
        raise CheckpointError(f"{to} is there already; wanted a directory that is to be made")
    if not os.path.isdir(os.path.dirname(to)):
        raise CheckpointError(f"{os.path.dirname(to)} is no directory; wanted one to put the model into")
    free, size = shutil.disk_usage(os.path.dirname(to)).free, sum(layout.shards(listing, role).values())
    if free < size // 2:
        raise CheckpointError(f"{os.path.dirname(to)} has {free} bytes free; wanted about {size // 2} for the model")


def _asked(words: tuple[str, ...], limit_s: float) -> dict[str, int]:
    try:
        done = run(words, limit_s=limit_s)
    except OSError as error:
        raise CheckpointError(f"{words[0]}: {error.strerror or error}; wanted a Python (--python)") from None
    if done.timed_out:
        raise CheckpointError(f"the merge took more than {limit_s:g} s (--limit)")
    try:
        said = parse_object(done.text.splitlines()[-1])
        return {"tensors": said.integer("tensors"), "adapters": said.integer("adapters")}
    except (IndexError, FormatError):
        why = (done.error_text.strip().splitlines() or [f"exit status {done.status}"])[-1]
        wanted = "; wanted one with torch and transformers (--python)" if "No module named" in why else ""
        raise CheckpointError(f"{words[0]} could not merge it: {why[:WHY_CHARS]}{wanted}") from None
