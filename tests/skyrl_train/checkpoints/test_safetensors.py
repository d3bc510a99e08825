import io
import json
import struct

import pytest

from skyrl_train.checkpoints.safetensors import tensors_faults

GOOD = {
    "a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
    "b": {"dtype": "U8", "shape": [], "data_offsets": [8, 9]},
}


def of(header: bytes, *, tensors: int = 9) -> list[str]:
    data = struct.pack("<Q", len(header)) + header + bytes(tensors)
    return list(tensors_faults(io.BytesIO(data), len(data)))


def test_a_header_of_the_library_is_accepted() -> None:
    assert of(json.dumps({**GOOD, "__metadata__": {"format": "pt"}}).encode() + b"  ") == []


@pytest.mark.parametrize(
    "header",
    [
        b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}}',
        b'{"a":{"dtype":"U8","shape":[9.0],"data_offsets":[0,9]}}',
        b'{"a":{"dtype":"U8","shape":[true],"data_offsets":[0,9]}}',
        b'{"a":{"dtype":"U8","shape":[-9],"data_offsets":[0,9]}}',
        b'{"a":{"dtype":"U9","shape":[9],"data_offsets":[0,9]}}',
        b'{"a":{"dtype":"U8","shape":[8],"data_offsets":[0,9]}}',
        b'{"a":{"dtype":"U8","shape":[8],"data_offsets":[1,9]}}',
        b'{"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9,9]}}',
        b'{"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]},"b":{"dtype":"U8","shape":[5],"data_offsets":[4,9]}}',
        b'{"\\ud800":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}}',
        b'{"a":NaN}',
        b' {"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
    ],
)
def test_what_the_library_refuses_is_refused(header: bytes) -> None:
    assert len(of(header)) == 1


@pytest.mark.parametrize(
    ("header", "why"),
    [
        (
            b'{"a":{"dtype":"U8","shape":[4294967296,4294967296,0],"data_offsets":[0,0]}}',
            "the tensor 'a' has an invalid type, shape or place",
        ),
        (b'{"__metadata__":{"n":1}}', "__metadata__ is not an object of texts"),
        (b'{"__metadata__":[]}', "__metadata__ is not an object of texts"),
    ],
)
def test_a_header_without_data_is_refused_for_what_it_says(header: bytes, why: str) -> None:
    assert of(header, tensors=0) == [f"its header cannot be read ({why})"]


@pytest.mark.parametrize("size", [8, 10])
def test_the_file_ends_with_its_last_tensor(size: int) -> None:
    header = json.dumps(GOOD).encode()
    begin = 8 + len(header)
    assert of(header, tensors=size) == [f"it has {begin + size} bytes; its header describes {begin + 9}"]
