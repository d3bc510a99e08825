"""What verl 0.9.1 writes for a step, and what must be there for a resume. Pure: names and sizes in, words out.

    <checkpoint_dir>/
    ├── latest_checkpointed_iteration.txt            the tracker: "20", written after all that follows, in place
    └── global_step_20/
        ├── actor/                                   and critic/ of the same form, where PPO has one
        │   ├── model_world_size_2_rank_0.pt         every rank its shard: model, then optim, then extra_state
        │   ├── optim_world_size_2_rank_0.pt
        │   ├── extra_state_world_size_2_rank_0.pt   learning-rate schedule and random numbers
        │   ├── huggingface/                         rank 0, after its shards: config.json, tokenizer
        │   ├── fsdp_config.json                     {"FSDP_version": 2, "world_size": 2}
        │   └── lora_train_meta.json                 where an adapter is trained
        ├── data.pt                                  the driver, when every role has saved: where the data stood
        ├── transfer_queue/                          trainers that do not wait for their rollouts
        └── skyrl_complete.json                      ours, last of all (manifest.py)

verl writes every file in place and waits for no disk, prunes an old actor before the new step is whole, and truncates
the tracker before it writes it: docs/adr/0021-checkpoints.md.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

TRACKER = "latest_checkpointed_iteration.txt"
MANIFEST = "skyrl_complete.json"
STEP = "global_step_"
DISCARDED = "discarded_"
"""Goes before the name of a checkpoint that is being deleted: a cut deletion is no checkpoint."""
ACTOR, CRITIC = "actor", "critic"
DATA = "data.pt"
WORLD = "fsdp_config.json"
KINDS = ("model", "optim", "extra_state")
"""What verl loads at a resume, by the names of its files (its own words for them: model, optimizer, extra)."""

CONTENTS = {"model": "model", "optimizer": "optim", "extra": "extra_state"}
"""verl's words in checkpoint.save_contents and load_contents."""

_STEP = re.compile(rf"{STEP}(0|[1-9]\d{{0,8}})")
_SHARD = re.compile(r"(model|optim|extra_state)_world_size_([1-9]\d{0,5})_rank_(0|[1-9]\d{0,5})\.pt")

Listing = Mapping[str, int]
"""The files below a step's directory, by their path in it, and their sizes."""


class Shard(NamedTuple):
    """What a shard's name says."""

    kind: str
    world: int
    rank: int


def step_of(name: str) -> int | None:
    """The step of a directory's name; None for whatever verl would not have written."""
    found = _STEP.fullmatch(name)
    return int(found[1]) if found else None


def kinds_of(contents: Iterable[str]) -> tuple[str, ...]:
    """What a run saves, or loads, of a role: by verl's checkpoint.save_contents."""
    return tuple(CONTENTS[one] for one in contents if one in CONTENTS)


def directory_of(step: int) -> str:
    return f"{STEP}{step}"


def shard_of(name: str) -> Shard | None:
    found = _SHARD.fullmatch(name)
    return Shard(found[1], int(found[2]), int(found[3])) if found else None


def tracked(text: str) -> int | None:
    """The step that a tracker names. verl takes int() of it, so blanks around are no fault; None where it would die."""
    stripped = text.strip()
    return int(stripped) if stripped.isascii() and stripped.isdecimal() and len(stripped) <= 9 else None


def chosen(good: Iterable[int], tracked: int | None) -> int | None:
    """The complete step to go on from: what the tracker names, else the newest before it.

    Newer ones than the tracker's are of a run that was left, or never came to their end. Where the tracker says nothing
    (not there, empty: verl truncates it before it writes) it is the newest of all.
    """
    steps = sorted(good)
    before = [step for step in steps if tracked is None or step <= tracked]
    return max(before or steps, default=None)


def shards(listing: Listing, role: str) -> dict[Shard, int]:
    """The shards of a role, with their sizes."""
    found = {name: shard_of(name.removeprefix(f"{role}/")) for name in listing if name.startswith(f"{role}/")}
    return {shard: listing[name] for name, shard in found.items() if shard is not None}


def worlds(listing: Listing, role: str) -> tuple[int, ...]:
    """How many ranks wrote a role: more than one number where a save went over one of another size."""
    return tuple(sorted({shard.world for shard in shards(listing, role)}))


def roles(listing: Listing) -> tuple[str, ...]:
    """The models that the checkpoint has something of; the actor always, for without it there is nothing to resume."""
    return (ACTOR, CRITIC) if any(name.startswith(f"{CRITIC}/") for name in listing) else (ACTOR,)


def lacks(listing: Listing, *, critic: bool | None = None, kinds: tuple[str, ...] = KINDS) -> Iterator[str]:
    """Why a resume from it would fail, or would start the data anew. `critic`: whether the run has one, if known."""
    for role in roles(listing) if not critic else (ACTOR, CRITIC):
        yield from _of_role(listing, role, kinds)
    if DATA not in listing:
        yield f"{DATA} is not there: the save was cut short before its end"
    yield from (f"{name} is empty" for name, size in sorted(listing.items()) if not size and _matters(name))


def _of_role(listing: Listing, role: str, kinds: tuple[str, ...]) -> Iterator[str]:
    found = shards(listing, role)
    sizes = worlds(listing, role)
    if not found:
        yield f"{role}/ has no shard of a model"
        return
    if len(sizes) > 1:
        yield f"{role}/ has shards of {' and '.join(map(str, sizes))} ranks: one save went over another"
        return
    for kind in kinds:
        there = {shard.rank for shard in found if shard.kind == kind}
        missing = sorted(set(range(sizes[0])) - there)
        if missing:
            yield f"{role}/{kind}_world_size_{sizes[0]}_rank_{_ranks(missing)}.pt is not there"
    for name in (WORLD, "huggingface/config.json"):
        if f"{role}/{name}" not in listing:
            yield f"{role}/{name} is not there"


def _ranks(missing: list[int]) -> str:
    if len(missing) == 1:
        return str(missing[0])
    return "{" + ",".join(map(str, missing[:4])) + (",…" if len(missing) > 4 else "") + "}"


def _matters(name: str) -> bool:
    return name.endswith((".pt", ".json", ".safetensors"))
