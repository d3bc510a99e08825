"""Checks the header of a safetensors file, at least as strictly as the library that loads it."""

import json
import math
from collections.abc import Iterator
from typing import IO, NoReturn

MOST_HEADER = 32 << 20
_METADATA = "__metadata__"
_MOST_DIGITS = 19
_BITS = {
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3", "F8_E8M0", "F8_E5M2FNUZ", "F8_E4M3FNUZ"), 8),
    **dict.fromkeys(("I16", "U16", "F16", "BF16"), 16),
    **dict.fromkeys(("I32", "U32", "F32"), 32),
    **dict.fromkeys(("I64", "U64", "F64", "C64"), 64),
    "F4": 4,
    "F6_E2M3": 6,
    "F6_E3M2": 6,
}


def tensors_faults(file: IO[bytes], size: int) -> Iterator[str]:
    """Why a safetensors file cannot be read, by its header, which lists where each tensor begins and ends."""
    length = int.from_bytes(file.read(8), "little")
    if not 0 < length <= min(size - 8, MOST_HEADER):
        yield "its header is longer than the file"
        return
    try:
        ends = _end(_parse(file.read(length)))
    except (ValueError, RecursionError) as error:
        yield f"its header cannot be read ({str(error)[:200]})"
        return
    if size != 8 + length + ends:
        yield f"it has {size} bytes; its header describes {8 + length + ends}"


def _parse(data: bytes) -> dict[str, object]:
    if not data.startswith(b"{"):
        raise ValueError("it does not begin with an object")
    header = json.loads(data.decode("utf-8"), object_pairs_hook=_unique, parse_int=_integer, parse_constant=_refuse)
    if not isinstance(header, dict):
        raise ValueError("it is not an object")
    return header


def _end(header: dict[str, object]) -> int:
    """The end of the last tensor. The tensors follow each other without gaps from 0 on."""
    metadata = header.pop(_METADATA, None)
    if metadata is not None and not _is_texts(metadata):
        raise ValueError(f"{_METADATA} is not an object of texts")
    end = 0
    for begin, after in sorted(_span(name, value) for name, value in header.items()):
        if begin != end:
            raise ValueError(f"a tensor begins at {begin}; expected {end}")
        end = after
    return end


def _span(name: str, value: object) -> tuple[int, int]:
    match value:
        case {"dtype": str(kind), "shape": list(shape), "data_offsets": [int(begin), int(end)]} if kind in _BITS:
            if all(type(one) is int for one in (*shape, begin, end)):
                bits = math.prod(shape) * _BITS[kind]
                if begin <= end and bits == (end - begin) * 8 and _product_fits(shape):
                    return begin, end
    raise ValueError(f"the tensor {name[:80]!r} has an invalid type, shape or place")


def _product_fits(shape: list[int]) -> bool:
    """Whether the library can multiply the sizes in their order without an overflow."""
    product = 1
    for one in shape:
        product *= one
        if product >= 1 << 58:
            return False
    return True


def _is_texts(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(one, str) for one in value.values())


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a name appears twice")
    for name, value in pairs:
        name.encode("utf-8")  # half of a surrogate pair is no text for the library
        if isinstance(value, str):
            value.encode("utf-8")
    return made


def _integer(text: str) -> int:
    if not text.isdigit() or len(text) > _MOST_DIGITS:
        raise ValueError(f"{text[:30]} is not a size")
    return int(text)


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")
