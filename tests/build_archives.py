"""Archives for POST /build: those that attack, and those that must work. As a program: what becomes of each, as JSON.

python tests/build_archives.py
"""

import bz2
import gzip
import io
import json
import lzma
import os
import struct
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from skyrl_train.sandbox.runtime import context_archive

Entry = tuple[str, bytes, str, bytes]
"""Name, kind, target of a link, content."""


def entry(name: str, kind: bytes = tarfile.REGTYPE, target: str = "", content: bytes = b"") -> Entry:
    return name, kind, target, content


def block(one: Entry, *, size: int | None = None) -> bytes:
    """The header and the content of a file, as ustar has them; no check of names, unlike tarfile's writer."""
    name, kind, target, content = one
    header = bytearray(512)
    length = len(content) if size is None else size
    number = b"\xff" + length.to_bytes(11, "big", signed=True) if length < 0 else b"%011o\0" % length
    for at, value in ((0, name.encode()[:100]), (100, b"0000755\0"), (108, b"0000000\0"), (116, b"0000000\0"), (124, number),
                      (136, b"00000000000\0"), (148, b" " * 8), (156, kind), (157, target.encode()[:100]), (257, b"ustar\00000")):  # fmt: skip
        header[at : at + len(value)] = value
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) + content + bytes(-len(content) % 512)


def tar(*entries: Entry) -> bytes:
    return b"".join(block(one) for one in entries) + bytes(1024)


def link(name: str, target: str) -> Entry:
    return entry(name, tarfile.SYMTYPE, target)


def hard(name: str, target: str) -> Entry:
    return entry(name, tarfile.LNKTYPE, target)


def extended(name: str, value: str) -> Entry:
    record = f" {name}={value}\n".encode()
    length = len(record) + 1
    while len(str(length)) + len(record) != length:
        length += 1
    return entry("pax", tarfile.XHDTYPE, "", str(length).encode() + record)


def long_name(name: str) -> Entry:
    return entry("././@LongLink", tarfile.GNUTYPE_LONGNAME, "", name.encode() + b"\0")


FILE = entry("Dockerfile", content=b"FROM box\n")
DIRECTORY = entry("d", tarfile.DIRTYPE)
OUT = entry("../outside", content=b"x")
DEEP = "/".join(["d" * 200] * 30)

ATTACKS: dict[str, Callable[[], bytes]] = {
    "a path above": lambda: tar(FILE, OUT),
    "a path above in the middle": lambda: tar(FILE, entry("d/../../outside", content=b"x")),
    "a path above in an extended header": lambda: tar(FILE, extended("path", "../outside"), entry("x")),
    "a path above in a long name": lambda: tar(FILE, long_name("../outside"), entry("x")),
    "a link to an absolute path": lambda: tar(FILE, link("l", "/etc/passwd")),
    "a link above": lambda: tar(FILE, link("l", "../outside")),
    "a link above in an extended header": lambda: tar(FILE, extended("linkpath", "../outside"), link("l", "x")),
    "a link through a link": lambda: tar(FILE, DIRECTORY, link("d/up", ".."), link("d/l", "up/../outside")),
    "a link whose target climbs after a name": lambda: tar(FILE, DIRECTORY, link("l", "d/../../outside")),
    "a write through a link": lambda: tar(FILE, DIRECTORY, link("l", "d"), entry("l/x", content=b"x")),
    "a write through a link to here": lambda: tar(FILE, link("l", "."), entry("l/x", content=b"x")),
    "a write through a link that was a directory": lambda: tar(FILE, DIRECTORY, link("d", ".")),
    "a directory over a link": lambda: tar(FILE, link("l", "d"), entry("l", tarfile.DIRTYPE)),
    "a chain of links that grows too long to resolve": lambda: tar(
        FILE, *(link(f"{'l' * 90}{i}", f"{'l' * 90}{i + 1}/..") for i in range(9)), link("x", "l/../../outside")
    ),
    "a hard link above": lambda: tar(FILE, hard("l", "../outside")),
    "a hard link to an absolute path that is not in the archive": lambda: tar(FILE, hard("l", "/etc/passwd")),
    "a hard link to a symbolic link": lambda: tar(FILE, link("s", "Dockerfile"), hard("l", "s")),
    "a hard link through a symbolic link": lambda: tar(FILE, DIRECTORY, link("s", "d"), entry("d/x"), hard("l", "s/x")),
    "a hard link to a directory": lambda: tar(FILE, DIRECTORY, hard("l", "d")),
    "a device": lambda: tar(FILE, entry("null", tarfile.CHRTYPE)),
    "a block device": lambda: tar(FILE, entry("sda", tarfile.BLKTYPE)),
    "a FIFO": lambda: tar(FILE, entry("pipe", tarfile.FIFOTYPE)),
    "a sparse file": lambda: tar(FILE, entry("s", tarfile.GNUTYPE_SPARSE)),
    "a sparse file of an extended header": lambda: tar(FILE, extended("GNU.sparse.major", "1"), entry("x")),
    "an unknown kind": lambda: tar(FILE, entry("x", b"Z")),
    "a negative size": lambda: block(FILE) + block(entry("x"), size=-512) + bytes(1024),
    "a negative size in an extended header": lambda: tar(FILE, extended("size", "-512"), entry("x")),
    "a size without an end": lambda: tar(FILE, extended("size", "9" * 30), entry("x")),
    "more bytes than the archive has": lambda: block(FILE) + block(entry("x"), size=1 << 20),
    "an extended header of a gigabyte": lambda: block(FILE) + block(entry("pax", tarfile.XHDTYPE), size=1 << 30),
    "an extended header that does not end": lambda: tar(FILE, entry("pax", tarfile.XHDTYPE, "", b"9 path=x"), entry("x")),
    "a path of many parts": lambda: tar(FILE, extended("path", "d/" * 100 + "x"), entry("x")),
    "a path that is too long": lambda: tar(FILE, extended("path", DEEP), entry("x")),
    "a path with a zero byte": lambda: tar(FILE, extended("path", "a\0b"), entry("x")),
    "the directory itself as a link": lambda: tar(FILE, link(".", "d")),
    "a file where a directory is": lambda: tar(FILE, DIRECTORY, entry("d")),
    "a damaged header": lambda: b"x" * 1024,
    "a cut archive": lambda: gzip.compress(tar(FILE))[:-6],
    "a cut tar": lambda: tar(FILE)[:700],
    "xz, whose dictionary may take gigabytes": lambda: lzma.compress(tar(FILE)),
    "damaged gzip": lambda: gzip.compress(tar(FILE))[:12] + b"\xff" * 40,
}  # fmt: skip

WORKS: dict[str, Callable[[], bytes]] = {
    "plain": lambda: tar(FILE),
    "gzip": lambda: gzip.compress(tar(FILE, DIRECTORY, entry("d/x", content=b"y" * 1000))),
    "bzip2": lambda: bz2.compress(tar(FILE)),
    "paths from the root": lambda: tar(
        entry("/Dockerfile", content=b"FROM box\n"), entry("/", tarfile.DIRTYPE), entry("./d/x")
    ),
    "links inside": lambda: tar(
        FILE, DIRECTORY, entry("d/x"), link("l", "d/x"), link("d/up", "../Dockerfile"), hard("h", "d/x")
    ),
    "a file twice": lambda: tar(entry("Dockerfile", content=b"old"), FILE),
    "a file over a link": lambda: tar(FILE, link("l", "Dockerfile"), entry("l", content=b"new")),
    "names of other alphabets": lambda: tar(FILE, extended("path", "d/\u00fc\u4e2d"), entry("x", content=b"1")),
    "a long name": lambda: tar(FILE, long_name("d/" + "n" * 180), entry("x", content=b"1")),
    "tarfile's own writer": lambda: _written(),
}


def _written() -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name in ("Dockerfile", "code/" + "long" * 40 + ".py"):
            info = tarfile.TarInfo(name)
            info.size = 4
            archive.addfile(info, io.BytesIO(struct.pack("<I", 1)))
    return made.getvalue()


def outcome(data: bytes, place: Path) -> str:
    """`refused: …`, or the files that were unpacked with their modes and contents."""
    archive, directory = place / "archive", place / "made"
    archive.write_bytes(data)
    try:
        context_archive.unpack(archive, directory)
    except (context_archive.ArchiveError, OSError) as error:
        return f"refused: {type(error).__name__}"
    found = []
    for path in sorted(directory.rglob("*")):
        what = os.readlink(path) if path.is_symlink() else path.read_text() if path.is_file() else "/"
        found.append(f"{path.relative_to(directory)} {path.lstat().st_mode:o} {what}")
    return "\n".join(found)


def outcomes() -> dict[str, str]:
    found = {}
    for label, make in {**ATTACKS, **WORKS}.items():
        with tempfile.TemporaryDirectory() as place:
            (Path(place) / "below").mkdir()
            found[label] = outcome(make(), Path(place) / "below")
            if (Path(place) / "outside").exists() or (Path(place) / "below" / "outside").exists():
                found[label] = "written outside"
    return found


if __name__ == "__main__":
    print(json.dumps(outcomes()))  # noqa: T201 -- what the program is for
