"""Checks whether a file of torch.save is complete, by its structure. Nothing in it is executed.

It is a zip with one stored record for each tensor, `data.pkl` for the structure, and at the end a directory of all records
with sizes and checksums. A truncated file lacks the directory; a file whose pages never reached the disk has zeros there.
The pickle is only parsed, since loading it runs the code that it names.
"""

import contextlib
import io
import pickletools
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO

from skyrl_train.contracts.typed import parse_object

PICKLE = "data.pkl"
MOST_HEADER = 100 << 20
MOST_PICKLE = 256 << 20
"""A pickle holds names and shapes; a larger one is not the state of a model."""
KNOWN = frozenset(
    [
        *("torch", "collections", "numpy", "_codecs", "copyreg", "datetime", "random", "functools"),
        *("verl", "transformers", "peft", "accelerate", "tensordict", "torchdata", "omegaconf", "transfer_queue"),
    ]
)
"""The packages whose objects verl saves. torch.load(weights_only=False) would also import and call any other."""
HIDDEN = "a computed name"
"""Used for an import whose module and name are not the two last texts, which no pickler writes."""
_PUTS = frozenset(("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"))
_GETS = frozenset(("GET", "BINGET", "LONG_BINGET"))
HARMLESS = frozenset(
    [
        *("set", "frozenset", "list", "dict", "tuple", "slice", "range", "complex"),
        *("bytearray", "object", "int", "float", "str", "bool"),
    ]
)


def faults(file: IO[bytes], *, deep: bool = False) -> Iterator[str]:
    """Why a torch file cannot be read. `deep` reads every byte and compares it with its checksum."""
    try:
        with zipfile.ZipFile(file) as archive:
            yield from _archive_faults(archive, deep=deep)
    except zipfile.BadZipFile:
        yield "the zip directory at its end is missing: the write was interrupted"
    except (zlib.error, EOFError, ValueError, NotImplementedError, OSError, RuntimeError) as error:
        yield f"it cannot be read ({error})"


def _archive_faults(archive: zipfile.ZipFile, *, deep: bool) -> Iterator[str]:
    infos = archive.infolist()
    pickles = [info for info in infos if info.filename.rpartition("/")[2] == PICKLE]
    if len(pickles) != 1:
        yield f"it holds {len(pickles)} {PICKLE}; expected one"
        return
    root = pickles[0].filename.rpartition("/")[0]
    compressed = [info.filename for info in infos if info.compress_type != zipfile.ZIP_STORED]
    if compressed:
        yield f"{compressed[0]} is compressed; expected an uncompressed file of torch.save"
    elif pickles[0].file_size > MOST_PICKLE:
        yield f"{PICKLE} has {pickles[0].file_size} bytes; expected at most {MOST_PICKLE}"
    else:
        yield from _pickle_faults(archive.read(pickles[0]), {info.filename for info in infos}, root)
    if deep and (bad := archive.testzip()) is not None:
        yield f"the checksum of {bad} does not match: the file is damaged"


def _pickle_faults(data: bytes, records: set[str], root: str) -> Iterator[str]:
    """A fault if a storage that the pickle names is missing from the records."""
    try:
        for _, key in _walked(data):
            if key and f"{root}/data/{key}" not in records:
                yield f"tensor {key} is missing"
                return
    except Exception as error:  # noqa: BLE001 -- pickletools raises various errors on invalid bytes
        yield f"{PICKLE} is not a valid pickle ({error})"


def foreign_imports(file: IO[bytes]) -> tuple[str, ...]:
    """The names outside torch and verl that loading the file would import and run with the rights of the job."""
    found: set[str] = set()
    with contextlib.suppress(Exception), zipfile.ZipFile(file) as archive:  # `faults` reports a broken file
        name = next(one for one in archive.namelist() if one.rpartition("/")[2] == PICKLE)
        if archive.getinfo(name).file_size <= MOST_PICKLE:
            for named, _ in _walked(archive.read(name)):  # a load also runs what comes before a broken byte
                found.add(named)
    found.discard("")
    return tuple(sorted(name for name in found if not _is_known(name)))


def _is_known(name: str) -> bool:
    module, _, attribute = name.partition(" ")
    return module.partition(".")[0] in KNOWN or (module in ("builtins", "__builtin__") and attribute in HARMLESS)


def _walked(data: bytes) -> Iterator[tuple[str, str]]:
    """("module name", "") for each import of a pickle and ("", key) for each tensor that it names.

    A tensor's storage is the persistent id ("storage", type, key, device, count): the texts as they were pushed, some of
    them from the memo.
    """
    pushed: list[str] = []
    memo: dict[int, str] = {}
    memoized, text, in_a_row = 0, "", 0
    for opcode, argument, _ in pickletools.genops(io.BytesIO(data)):
        name = opcode.name
        if name in ("GLOBAL", "INST"):
            yield str(argument), ""
        elif name == "STACK_GLOBAL":
            yield " ".join(pushed[-2:]) if in_a_row >= 2 else HIDDEN, ""
        elif name == "BINPERSID" and pushed[-3:-2] == ["storage"]:
            yield "", pushed[-2]
        if name in _PUTS:
            memo[memoized if name == "MEMOIZE" else int(str(argument))] = text
            memoized += 1
            continue
        is_text = "UNICODE" in name or "STRING" in name
        text = str(argument) if is_text else memo.get(int(str(argument)), "") if name in _GETS else ""
        in_a_row = in_a_row + 1 if text else 0
        pushed = [*pushed[-4:], text] if text else pushed


def tensors_faults(file: IO[bytes], size: int) -> Iterator[str]:
    """Why a safetensors file cannot be read, by its header, which lists where each tensor ends."""
    length = int.from_bytes(file.read(8), "little")
    if not 0 < length <= min(size - 8, MOST_HEADER):
        yield "its header is longer than the file"
        return
    try:
        header = parse_object(file.read(length), most_bytes=MOST_HEADER)
        offsets = (header.inner(name).integers("data_offsets") for name in header if name != "__metadata__")
        ends = max((end for _, end in offsets), default=0)
    except ValueError as error:
        yield f"its header cannot be read ({error})"
        return
    if size != 8 + length + ends:
        yield f"it has {size} bytes; its header describes {8 + length + ends}"
