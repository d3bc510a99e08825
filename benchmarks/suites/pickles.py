"""picklescan's dangerous names and malicious files, and safetensors' reader, as judges of `checkpoints verify`."""

import io
import json
import pickle
import random
import struct
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.suites.cases import Case
from skyrl_train.checkpoints.archive import foreign_imports
from skyrl_train.checkpoints.saved import _structure

DAMAGED = 4026
NAME = "model.safetensors"


def name_cases(_: Path) -> Iterator[Case]:
    """A file for each name that picklescan calls dangerous, in an old and in a new protocol."""
    from picklescan.scanner import _unsafe_globals  # type: ignore[import-not-found]

    for module, listed in sorted(_unsafe_globals.items()):
        names = ("anything",) if listed == "*" else [listed] if isinstance(listed, str) else sorted(listed)
        for name in names:
            for protocol, data in (("0", _old_call(module, name)), ("4", _new_call(module, name))):
                found = foreign_imports(io.BytesIO(_torch_file(data)))
                yield Case(f"{module}.{name} protocol {protocol}", bool(found), expected=True)


def file_cases(checkout: Path) -> Iterator[Case]:
    """picklescan's own malicious files, each as the pickle of a torch file; its scanner says which are malicious."""
    from picklescan.scanner import scan_pickle_bytes

    for path in sorted((checkout / "tests").glob("data*/*")):
        data = path.read_bytes()
        if path.suffix not in (".pkl", ".pickle", ".bin") or data[:2] == b"PK":
            continue
        scanned = scan_pickle_bytes(io.BytesIO(data), path.name)
        if scanned.issues_count:
            yield Case(path.name, bool(foreign_imports(io.BytesIO(_torch_file(data)))), expected=True)


def header_cases(_: Path) -> Iterator[Case]:
    """Damaged safetensors files: whatever the library refuses must have a fault, and what it reads must have none."""
    from safetensors import SafetensorError, deserialize  # type: ignore[import-not-found]

    draw = random.Random(19)
    good = _tensors()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(DAMAGED):
            data = _damaged(good, draw) if number else good
            (Path(folder) / NAME).write_bytes(data)
            try:
                deserialize(data)
                readable = True
            except (SafetensorError, ValueError, OverflowError):
                readable = False
            faults = [*_structure(folder, NAME, len(data), deep=False)]
            yield Case(f"file {number}: {data[:160]!r}", not faults, readable)


def _tensors() -> bytes:
    header: dict[str, Any] = {
        "__metadata__": {"format": "pt"},
        "a.weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
        "b.bias": {"dtype": "BF16", "shape": [4], "data_offsets": [24, 32]},
        "c": {"dtype": "U8", "shape": [8], "data_offsets": [32, 40]},
    }
    return _file(json.dumps(header).encode(), bytes(range(40)))


def _file(header: bytes, data: bytes) -> bytes:
    return struct.pack("<Q", len(header)) + header + data


_CHANGES = (
    (b"F32", b"F16"), (b"F32", b"F99"), (b"[2, 3]", b"[2, 4]"), (b"[2, 3]", b"[-2, 3]"), (b"[2, 3]", b"6"),
    (b"[0, 24]", b"[1, 24]"), (b"[0, 24]", b"[24, 0]"), (b"[0, 24]", b"[0, 16]"), (b"[24, 32]", b"[16, 32]"),
    (b"[24, 32]", b"[28, 32]"), (b"[32, 40]", b"[32, 48]"), (b"[32, 40]", b"[32]"), (b"\"a.weight\"", b"\"c\""),
    (b"\"shape\": [8], ", b""), (b"\"dtype\": \"U8\", ", b""), (b"\"pt\"", b"1"), (b"\"pt\"", b"null"),
    (b"[32, 40]", b"[32.0, 40]"), (b"[32, 40]", b"[true, 40]"), (b"\"U8\"", b"8"), (b"\"U8\", ", b"\"U8\", \"x\": 1, "),
    (b"{\"format\": \"pt\"}", b"[]"), (b"[4]", b"[]"), (b"[8]", b"[0]"), (b"[8]", b"[18446744073709551615, 2]"),
)  # fmt: skip


def _damaged(good: bytes, draw: random.Random) -> bytes:
    """One or two kinds of damage: a cut, a flipped byte, zeros, a wrong length, a wrong entry."""
    data = good
    length = struct.unpack("<Q", good[:8])[0]
    for _ in range(draw.choice((1, 1, 2))):
        kind = draw.randrange(6)
        if kind == 0 and len(data) > 1:
            data = data[: draw.randrange(len(data))]
        elif kind == 1 and data:
            at = draw.randrange(min(len(data), 8 + length))
            data = data[:at] + bytes([draw.randrange(256)]) + data[at + 1 :]
        elif kind == 2 and data:
            at = draw.randrange(len(data))
            data = data[:at] + bytes(len(data) - at)
        elif kind == 3:
            data = struct.pack("<Q", draw.choice((0, 1, 2**63, length - 1, length + 1, length + 8))) + data[8:]
        elif kind == 4:
            data += draw.choice((b"\0", b"x" * 8, b" "))
        else:
            old, new = draw.choice(_CHANGES)
            header = good[8 : 8 + length].replace(old, new, 1)
            data = _file(header + b" " * draw.randrange(3), good[8 + length :])
    return data


def _old_call(module: str, name: str) -> bytes:
    return f"c{module}\n{name}\n(S'x'\ntR.".encode()


def _new_call(module: str, name: str) -> bytes:
    texts = b"".join(b"\x8c" + bytes([len(text)]) + text for text in (module.encode(), name.encode()))
    return b"\x80\x04" + texts + b"\x93" + pickle.dumps(("x",), 4)[2:-1] + b"R."


def _torch_file(data: bytes) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("archive/data.pkl", data)
        archive.writestr("archive/version", "3\n")
    return held.getvalue()
