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
        b'{"a":{"dtype":"U8","shape":[4294967296,4294967296,0],"data_offsets":[0,0]}}',
        b'{"__metadata__":{"n":1}}',
        b'{"\\ud800":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}}',
        b'{"a":NaN}',
        b' {"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
    ],
)
def test_what_the_library_refuses_is_refused(header: bytes) -> None:
    assert len(of(header)) == 1
