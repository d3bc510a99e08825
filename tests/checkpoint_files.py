"""Checkpoints as verl writes them, without torch: the same names in the same order, and zips of the same form."""

import io
import json
import os
import pickle
import random
import sys
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path

from skyrl_train.contracts.checkpoints.layout import CRITIC, DATA, TRACKER, directory_of

Wrote = Callable[[], None]


def torch_file(seed: int, *, tensors: int = 3, size: int = 400) -> bytes:
    """What torch.save makes of a dict of tensors. The bytes differ by seed, their number does not."""

    class Storage:
        def __init__(self, key: int) -> None:
            self.key = key

    class Pickler(pickle.Pickler):
        def persistent_id(self, thing: object) -> object:
            return ("storage", OrderedDict, str(thing.key), "cpu", size) if isinstance(thing, Storage) else None

    packed = io.BytesIO()
    Pickler(packed, protocol=2).dump({f"layer.{key}.weight": Storage(key) for key in range(tensors)})
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        pickled = packed.getvalue().replace(b"ccollections\nOrderedDict\n", b"ctorch\nByteStorage\n")
        parts = {"archive/data.pkl": pickled}
        parts |= {f"archive/data/{key}": random.Random(seed * 100 + key).randbytes(size) for key in range(tensors)}
        parts |= {"archive/version": b"3\n"}
        for name, data in parts.items():
            archive.writestr(zipfile.ZipInfo(name), data)  # whose date is always the same
    return made.getvalue()


def put(path: Path, data: bytes, wrote: Wrote) -> None:
    """In place and in two halves, as a kill finds it."""
    if not path.parent.is_dir():
        path.parent.mkdir(parents=True)
    with path.open("wb", buffering=0) as file:  # a kill before this is the one before open(), which is heard
        wrote()
        file.write(data[: len(data) // 2])
        wrote()
        file.write(data[len(data) // 2 :])


def role_files(world: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """In verl's order: the ranks' shards (here one rank after another), then what rank 0 adds."""
    for rank in range(world):
        for kind in ("model", "optim", "extra_state"):
            yield f"{kind}_world_size_{world}_rank_{rank}.pt", torch_file(seed + rank)
    yield "huggingface/config.json", json.dumps({"model_type": "qwen2"}).encode()
    yield "huggingface/tokenizer.json", b"{}"
    yield "fsdp_config.json", json.dumps({"FSDP_version": 2, "world_size": world}).encode()


def save(
    root: Path, step: int, *, world: int = 1, critic: bool = False, seed: int = 0, wrote: Wrote = lambda: None
) -> Path:
    """verl's save of a step, the tracker last."""
    path = root / directory_of(step)
    for role in ("actor", CRITIC) if critic else ("actor",):
        for name, data in role_files(world, seed or step):
            put(path / role / name, data, wrote)
    put(path / DATA, torch_file(seed or step), wrote)
    put(root / TRACKER, str(step).encode(), wrote)
    return path


CHANGES = ("os.rename", "os.remove", "os.rmdir", "os.mkdir")


def killed_at(count: int, work: Callable[[Wrote], None]) -> bool:
    """Runs the work in a process that dies, without a word, at its so-manieth change of the disk. Whether it died.

    What counts as a change: a file opened for writing, renamed or removed, a directory made or removed, and whatever
    the work itself says (`wrote`).
    """
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == DIED
    left = [count]

    def change() -> None:
        left[0] -= 1
        if left[0] < 0:
            os._exit(DIED)

    def heard(event: str, arguments: tuple[object, ...]) -> None:
        if event in CHANGES or (event == "open" and len(arguments) > 2 and _writes(arguments[2])):
            change()

    try:
        sys.addaudithook(heard)
        work(change)
    except BaseException:  # noqa: BLE001 -- a child of a test must not come back into it
        sys.excepthook(*sys.exc_info())
        os._exit(1)
    os._exit(0)


DIED = 9


def _writes(flags: object) -> bool:
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
