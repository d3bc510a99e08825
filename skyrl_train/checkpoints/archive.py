"""Checks whether a file of torch.save is complete and what loading it would run. Nothing in it is executed.

It is a zip with one stored record for each tensor, `data.pkl` for the structure, and at the end a directory of all records
with sizes and checksums. A truncated file lacks the directory; a file whose pages never reached the disk has zeros there.
Readers of zips disagree about unusual ones, and torch reads a file that begins otherwise as a bare pickle. So only the form
that torch.save writes is accepted.
"""

import io
import pickletools
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO

from skyrl_train.checkpoints.pickles import follow

PICKLE = "data.pkl"
MOST_PICKLE = 256 << 20
"""A pickle holds names and shapes; a larger one is not the state of a model."""
_MOST_DIRECTORY = 256 << 20
_BEGIN, _END = b"PK\x03\x04", b"PK\x05\x06"
_END_SIZE = 22
_NO_DIRECTORY = "the zip directory at its end is missing: the write was interrupted"
_PUTS = frozenset(("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"))
_GETS = frozenset(("GET", "BINGET", "LONG_BINGET"))


class _FormError(Exception):
    """A file that is not of the form that torch.save writes."""


_UNREADABLE = (
    _FormError,
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    ValueError,
    NotImplementedError,
    OSError,
    RuntimeError,
)


def faults(file: IO[bytes], *, deep: bool = False) -> Iterator[str]:
    """Why a torch file cannot be read. `deep` reads every byte and compares it with its checksum."""
    try:
        with _opened(file) as archive:
            root, data = _pickle_of(archive)
            yield from _missing_tensors(data, {info.filename for info in archive.infolist()}, root)
            if deep and (bad := archive.testzip()) is not None:
                yield f"the checksum of {bad} does not match: the file is damaged"
    except _UNREADABLE as error:
        yield str(error) if isinstance(error, _FormError) else f"it cannot be read ({error})"


def foreign_imports(file: IO[bytes]) -> tuple[str, ...]:
    """The names outside torch and verl that loading the file would import and run with the rights of the job.

    A file that cannot be followed to its end may run anything; then the reason is one of the lines.
    """
    try:
        with _opened(file) as archive:
            root, data = _pickle_of(archive)
            followed = follow(data)
            wrong = next((key for key, size in followed.storages.items() if _size(archive, root, key) != size), None)
    except _UNREADABLE as error:
        return (f"unknown code: {error}",)
    problem = followed.problem or (f"its tensor {wrong[:80]} has another size" if wrong is not None else "")
    return (*sorted(followed.foreign), *([f"unknown code: {problem}"] if problem else []))


def _opened(file: IO[bytes]) -> zipfile.ZipFile:
    """The zip, if it begins at the first byte and ends with a directory of a usual size, without a comment."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(0, size - _END_SIZE))
    end = file.read(_END_SIZE)
    if len(end) < _END_SIZE or not end.startswith(_END) or end[-2:] != b"\0\0":
        raise _FormError(_NO_DIRECTORY)
    if int.from_bytes(end[12:16], "little") > min(_MOST_DIRECTORY, size) and end[12:16] != b"\xff" * 4:
        raise _FormError("its zip directory is larger than the file or the limit")
    file.seek(0)
    begin = file.read(len(_BEGIN))
    try:
        archive = zipfile.ZipFile(file)
    except zipfile.BadZipFile as error:
        raise _FormError(_NO_DIRECTORY) from error
    offset = int.from_bytes(end[16:20], "little")
    shifted = offset not in (archive.start_dir, 0xFFFFFFFF)
    if begin != _BEGIN or shifted or min((info.header_offset for info in archive.infolist()), default=0):
        archive.close()
        raise _FormError("it does not begin with a zip record: torch would load the bytes before it as a pickle")
    return archive


def _pickle_of(archive: zipfile.ZipFile) -> tuple[str, bytes]:
    """The root of all records and the pickle in it. torch compares names without case."""
    infos = archive.infolist()
    names = [info.filename.lower() for info in infos]
    pickles = [info for info in infos if info.filename.lower().rpartition("/")[2] == PICKLE]
    if len(pickles) != 1:
        raise _FormError(f"it holds {len(pickles)} {PICKLE}; expected one")
    pickle = pickles[0]
    root, _, rest = pickle.filename.partition("/")
    strange = [info.filename for info in infos if _is_strange(info, root)]
    compressed = [info.filename for info in infos if info.compress_type != zipfile.ZIP_STORED]
    if rest != PICKLE or not root:
        raise _FormError(f"{pickle.filename[:80]!r} is not {PICKLE} in the root directory of the archive")
    if compressed:
        raise _FormError(f"{compressed[0]} is compressed; expected an uncompressed file of torch.save")
    if sum(info.file_size for info in infos) > archive.start_dir:
        raise _FormError("its records overlap: reading them would have no end")
    if strange or len(set(names)) != len(names) or f"{root}/constants.pkl".lower() in names:
        raise _FormError(f"it holds {(strange or ['two records of one name, or constants.pkl'])[0][:80]!r}")
    if pickle.file_size > MOST_PICKLE:
        raise _FormError(f"{PICKLE} has {pickle.file_size} bytes; expected at most {MOST_PICKLE}")
    return root, archive.read(pickle)


def _is_strange(info: zipfile.ZipInfo, root: str) -> bool:
    """A name that another reader of zips may understand differently, or an encrypted record."""
    name = info.filename
    plain = name.startswith(f"{root}/") and name == info.orig_filename and "\\" not in name and name.isprintable()
    return not plain or bool(info.flag_bits & 1) or info.file_size != info.compress_size


def _size(archive: zipfile.ZipFile, root: str, key: str) -> int:
    try:
        return archive.getinfo(f"{root}/data/{key}").file_size
    except KeyError:
        return -1


def _missing_tensors(data: bytes, records: set[str], root: str) -> Iterator[str]:
    """A fault if a storage that the pickle names is missing from the records."""
    try:
        for key in _storage_keys(data):
            if f"{root}/data/{key}" not in records:
                yield f"tensor {key} is missing"
                return
    except Exception as error:  # noqa: BLE001 -- pickletools raises various errors on invalid bytes
        yield f"{PICKLE} is not a valid pickle ({error})"


def _storage_keys(data: bytes) -> Iterator[str]:
    """The key of each tensor of a pickle of any protocol.

    A tensor's storage is the persistent id ("storage", type, key, device, count): the texts as they were pushed, some of
    them from the memo.
    """
    pushed: list[str] = []
    memo: dict[int, str] = {}
    memoized, text = 0, ""
    for opcode, argument, _ in pickletools.genops(io.BytesIO(data)):
        name = opcode.name
        if name == "BINPERSID" and pushed[-3:-2] == ["storage"]:
            yield pushed[-2]
        if name in _PUTS:
            memo[memoized if name == "MEMOIZE" else int(str(argument))] = text
            memoized += 1
            continue
        is_text = "UNICODE" in name or "STRING" in name
        text = str(argument) if is_text else memo.get(int(str(argument)), "") if name in _GETS else ""
        pushed = [*pushed[-4:], text] if text else pushed
