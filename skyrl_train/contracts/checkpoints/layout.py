"""The files that verl 0.9.1 writes for a step, and those that a resume needs. Pure: works on names and sizes.

    <checkpoint_dir>/
    ├── latest_checkpointed_iteration.txt            the tracker: "20", written last, in place
    └── global_step_20/
        ├── actor/                                   and critic/ with the same files, if there is one
        │   ├── model_world_size_2_rank_0.pt         one shard of each rank: model, then optim, then extra_state
        │   ├── optim_world_size_2_rank_0.pt
        │   ├── extra_state_world_size_2_rank_0.pt   learning-rate schedule and random numbers
        │   ├── huggingface/                         rank 0, after its shards: config.json, tokenizer
        │   ├── fsdp_config.json                     {"FSDP_version": 2, "world_size": 2}
        │   └── lora_train_meta.json                 if an adapter is trained
        ├── data.pt                                  from the driver, after all roles: the position in the data
        ├── transfer_queue/                          from asynchronous trainers
        └── skyrl_complete.json                      our mark, written last (manifest.py)

verl writes every file in place without fsync, removes an old actor before the new step is complete, and truncates the
tracker before writing it: docs/adr/0021-checkpoints.md.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

TRACKER = "latest_checkpointed_iteration.txt"
MANIFEST = "skyrl_complete.json"
STEP = "global_step_"
DISCARDED = "discarded_"
"""Prefix of a checkpoint that is being deleted, so that an interrupted deletion leaves no checkpoint."""
ACTOR, CRITIC = "actor", "critic"
DATA = "data.pt"
WORLD = "fsdp_config.json"
KINDS = ("model", "optim", "extra_state")
"""What verl loads at a resume, by file name (verl's names: model, optimizer, extra)."""

CONTENTS = {"model": "model", "optimizer": "optim", "extra": "extra_state"}
"""verl's names in checkpoint.save_contents and load_contents."""

_STEP = re.compile(rf"{STEP}(0|[1-9]\d{{0,8}})")
_SHARD = re.compile(r"(model|optim|extra_state)_world_size_([1-9]\d{0,5})_rank_(0|[1-9]\d{0,5})\.pt")

Listing = Mapping[str, int]
"""The sizes of the files below a step's directory, by relative path."""


class Shard(NamedTuple):
    """The parts of a shard's file name."""

    kind: str
    world: int
    rank: int


def step_of(name: str) -> int | None:
    """The step in a directory's name, or None if verl would not write such a name."""
    found = _STEP.fullmatch(name)
    return int(found[1]) if found else None


def kinds_of(contents: Iterable[str]) -> tuple[str, ...]:
    """The kinds of files that a run saves or loads, from verl's checkpoint.save_contents."""
    return tuple(CONTENTS[one] for one in contents if one in CONTENTS)


def directory_of(step: int) -> str:
    return f"{STEP}{step}"


def shard_of(name: str) -> Shard | None:
    found = _SHARD.fullmatch(name)
    return Shard(found[1], int(found[2]), int(found[3])) if found else None


def tracked(text: str) -> int | None:
    """The step in a tracker's text, or None if verl's int() would fail on it. Blanks around the number are fine."""
    stripped = text.strip()
    return int(stripped) if stripped.isascii() and stripped.isdecimal() and len(stripped) <= 9 else None


def chosen(good: Iterable[int], tracked: int | None) -> int | None:
    """The complete step to resume from: the tracker's, else the newest before it.

    Steps after the tracker's belong to an abandoned run or an unfinished save. If the tracker is missing or empty (verl
    truncates it before writing), it is the newest of all.
    """
    steps = sorted(good)
    before = [step for step in steps if tracked is None or step <= tracked]
    return max(before or steps, default=None)


def shards(listing: Listing, role: str) -> dict[Shard, int]:
    """The sizes of the shards of a role."""
    found = {name: shard_of(name.removeprefix(f"{role}/")) for name in listing if name.startswith(f"{role}/")}
    return {shard: listing[name] for name, shard in found.items() if shard is not None}


def worlds(listing: Listing, role: str) -> tuple[int, ...]:
    """The numbers of ranks that wrote a role: more than one if saves with different numbers of GPUs were mixed."""
    return tuple(sorted({shard.world for shard in shards(listing, role)}))


def roles(listing: Listing) -> tuple[str, ...]:
    """The roles that have files in the checkpoint. Always includes the actor, which a resume needs."""
    return (ACTOR, CRITIC) if any(name.startswith(f"{CRITIC}/") for name in listing) else (ACTOR,)


def lacks(listing: Listing, *, critic: bool | None = None, kinds: tuple[str, ...] = KINDS) -> Iterator[str]:
    """Why a resume would fail or restart the data from the beginning. `critic`: whether the run has one, if known."""
    for role in roles(listing) if not critic else (ACTOR, CRITIC):
        yield from _of_role(listing, role, kinds)
    if DATA not in listing:
        yield f"{DATA} is missing, which verl writes last"
    yield from (f"{name} is empty" for name, size in sorted(listing.items()) if not size and _matters(name))


def _of_role(listing: Listing, role: str, kinds: tuple[str, ...]) -> Iterator[str]:
    found = shards(listing, role)
    sizes = worlds(listing, role)
    if not found:
        yield f"{role}/ has no model shard"
        return
    if len(sizes) > 1:
        yield f"{role}/ has shards of {' and '.join(map(str, sizes))} ranks: different saves were mixed"
        return
    for kind in kinds:
        there = {shard.rank for shard in found if shard.kind == kind}
        missing = sorted(set(range(sizes[0])) - there)
        if missing:
            yield f"{role}/{kind}_world_size_{sizes[0]}_rank_{_ranks(missing)}.pt is missing"
    for name in (WORLD, "huggingface/config.json"):
        if f"{role}/{name}" not in listing:
            yield f"{role}/{name} is missing"


def _ranks(missing: list[int]) -> str:
    if len(missing) == 1:
        return str(missing[0])
    return "{" + ",".join(map(str, missing[:4])) + (",…" if len(missing) > 4 else "") + "}"


def _matters(name: str) -> bool:
    return name.endswith((".pt", ".json", ".safetensors"))
