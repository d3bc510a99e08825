"""What torch or safetensors refuses, `checkpoints verify` refuses too."""

import io
import json
import random
import struct
import warnings
import zipfile

import pytest

from pickle_maker import made
from skyrl_train.checkpoints.archive import faults, foreign_imports
from skyrl_train.checkpoints.safetensors import tensors_faults

pytestmark = pytest.mark.loaders
PICKLES, HEADERS = 2000, 4000


def zipped(pickled: bytes) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr("a/data.pkl", pickled)
        archive.writestr("a/version", b"3\n")
        for key in range(4):
            archive.writestr(f"a/data/{key}", bytes(400))
    return written.getvalue()


def loads(data: bytes) -> bool:
    import torch

    try:
        torch.load(io.BytesIO(data), weights_only=True, map_location="cpu")
    except Exception:  # noqa: BLE001 -- each error is a refusal
        return False
    return True


def passes(data: bytes) -> bool:
    return not foreign_imports(io.BytesIO(data)) and not list(faults(io.BytesIO(data)))


def allow_names_of_verl() -> None:
    """The names that ours allows beyond torch's own: numpy's arrays and the parts of DTensors."""
    import numpy as np
    import torch
    from numpy._core import multiarray  # where pickles of numpy 2 find it
    from torch.distributed.tensor import _dtensor_spec as spec
    from torch.distributed.tensor import placement_types as types

    kinds = {
        type(np.dtype(code))
        for code in ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
    }
    names = [multiarray._reconstruct, multiarray.scalar, np.ndarray, np.dtype, *kinds]
    names += [spec.DTensorSpec, spec.TensorMeta, types.Shard, types.Replicate, types.Partial]
    torch.serialization.add_safe_globals(names)


def test_no_pickle_passes_that_torch_refuses() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        allow_names_of_verl()
        found = [(seed, passes(data), loads(data)) for seed in range(PICKLES) for data in [zipped(made(seed))]]
    assert [seed for seed, ours, theirs in found if ours and not theirs] == []
    accepted = sum(theirs for _, _, theirs in found)
    assert accepted > PICKLES // 10
    assert sum(ours for _, ours, _ in found) > accepted * 0.8


@pytest.mark.parametrize("name", ["plain", "optimizer", "random"])
def test_what_torch_saves_passes(name: str) -> None:
    import numpy as np
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.LayerNorm(4)).to(torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.ones(2, 4, dtype=torch.bfloat16)).sum().backward()
    optimizer.step()
    states = {
        "plain": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "random": {
            "cpu": torch.get_rng_state(),
            "numpy": np.random.RandomState(1).get_state(),
            "random": random.Random(1).getstate(),
        },
    }
    saved = io.BytesIO()
    torch.save(states[name], saved)
    assert passes(saved.getvalue())


def header(seed: int) -> bytes:
    """A header of two tensors with up to two changes."""
    chance = random.Random(seed)
    kind, size = chance.choice((("U8", 4), ("BF16", 2), ("F4", 8), ("F32", 1), ("U8", 8), ("X", 4)))
    tensors: dict[str, object] = {
        "a": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
        "b": {"dtype": kind, "shape": [size], "data_offsets": [16, 20]},
    }
    if chance.random() < 0.5:
        tensors["__metadata__"] = chance.choice([{"format": "pt"}, {"format": "pt"}, {"n": 1}, None, "x", {}])
    text = bytearray(json.dumps(tensors).encode())
    for _ in range(chance.choice((0, 0, 0, 1, 1, 2))):
        at = chance.randrange(len(text))
        text[at : at + chance.choice((0, 1))] = chance.choice(
            (b"0", b"1", b"-", b" ", b",", b'"', b"\\ud800", b"e", b".0", b"{", b"\xff", b"")
        )
    return (
        struct.pack("<Q", len(text) + chance.choice((0, 0, 0, 0, 1, -1)))
        + bytes(text)
        + bytes(20 + chance.choice((0, 0, 0, 0, 1)))
    )


def test_no_tensors_pass_that_safetensors_refuses() -> None:
    import safetensors

    found = []
    for seed in range(HEADERS):
        data = header(seed)
        ours = not list(tensors_faults(io.BytesIO(data), len(data)))
        try:
            safetensors.deserialize(data)
            theirs = True
        except Exception:  # noqa: BLE001 -- each error is a refusal
            theirs = False
        found.append((seed, ours, theirs))
    assert [seed for seed, ours, theirs in found if ours and not theirs] == []
    assert sum(ours for _, ours, _ in found) > 0.8 * sum(theirs for _, _, theirs in found) > HEADERS // 10
