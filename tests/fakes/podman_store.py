"""Podman's facts made by hand, and the smallest files of the kinds that Podman writes."""

import sqlite3
import struct
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any

from skyrl_doctor.facts.podman.bolt import MAGIC, fnv1a
from skyrl_doctor.facts.podman.database import Database
from skyrl_doctor.facts.podman.runtime_dir import RuntimeDir, Seen
from skyrl_doctor.facts.podman.settings import EngineConf, StorageConf
from skyrl_doctor.facts.podman.store import Places, PodmanStore
from skyrl_doctor.machine import queries as q
from skyrl_doctor.machine.base import Absent
from skyrl_doctor.machine.recorded import RecordedMachine

PAGE = 4096
DIRECTORY = {"kind": "dir", "mode": 0o700, "uid": 1000, "gid": 1000, "size": 0, "mtime": 0, "device": 1, "inode": 1}
FILE = {**DIRECTORY, "kind": "file", "mode": 0o755, "size": 26}
IDENTITY = {
    "host": "n",
    "user": "me",
    "uid": 1000,
    "gid": 1000,
    "pid": 1,
    "cpus": 1,
    "system": "Linux 6.1.0 x86_64",
    "python": "p",
    "cwd": "/",
}
BASE = "/tmp/skyrl-1000-4711/podman"
XDG = f"{BASE}/run"
PLACES = Places(
    graph_root=f"{BASE}/graph",
    run_root=f"{XDG}/containers",
    tmp_dir=f"{XDG}/libpod/tmp",
    static_dir=f"{BASE}/graph/libpod",
    driver="overlay",
)
STORE = PodmanStore(
    uid=1000,
    storage=StorageConf(path=f"{BASE}/storage.conf", driver="overlay"),
    engine=EngineConf(files=(f"{BASE}/containers.conf",)),
    runtime_dir=RuntimeDir(asked=XDG, used=XDG, for_store=XDG, seen=Seen(True, 1000, 0o700)),
    configured=PLACES,
    database=Database(path=f"{BASE}/graph/libpod/bolt_state.db", graph_root=PLACES.graph_root),
    pause_file=f"{XDG}/libpod/tmp/pause.pid",
)


class Bare(RecordedMachine):
    """A machine on which nothing lies, runs or is held but what is named."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        super().__init__({"identity": IDENTITY, "environ": {}, **answers}, strict=True)

    def answer(self, query: q.Query[Any]) -> Any:
        if query.key in self._answers or isinstance(query, q.Writable):
            return super().answer(query)
        if isinstance(query, q.Which):
            return None
        if isinstance(query, q.Run):
            return q.Completed(command=query.argv[0], found=False)
        raise Absent(getattr(query, "path", query.key))


def store(**changes: Any) -> PodmanStore:
    return replace(STORE, **changes)


def bolt(tree: Mapping[bytes, Any], *, transaction: int = 2, high_water: int = 5) -> bytes:
    """A bbolt file of one leaf page; tables in it are small buckets inside their entry."""
    metas = [_meta(number, transaction=transaction - number, high_water=high_water) for number in (0, 1)]
    free = struct.pack("<QHHI", 2, 0x10, 0, 0).ljust(PAGE, b"\0")
    leaf = _leaf_page(3, tree)
    assert len(leaf) <= PAGE
    pages = b"".join((*metas, free, leaf.ljust(PAGE, b"\0")))
    return pages.ljust(high_water * PAGE, b"\0")


def _meta(number: int, *, transaction: int, high_water: int) -> bytes:
    body = struct.pack("<IIIIQQQQQ", MAGIC, 2, PAGE, 0, 3, 0, 2, high_water, transaction)
    page = struct.pack("<QHHI", number, 0x04, 0, 0) + body + struct.pack("<Q", fnv1a(body))
    return page.ljust(PAGE, b"\0")


def _leaf_page(number: int, tree: Mapping[bytes, Any]) -> bytes:
    entries = [
        (0, key, value) if isinstance(value, bytes) else (1, key, struct.pack("<QQ", 0, 0) + _leaf_page(0, value))
        for key, value in sorted(tree.items())
    ]
    head, data = struct.pack("<QHHI", number, 0x02, len(entries), 0), b""
    elements = b""
    for index, (flags, key, value) in enumerate(entries):
        position = 16 * (len(entries) - index) + len(data)
        elements += struct.pack("<IIII", flags, position, len(key), len(value))
        data += key + value
    return head + elements + data


def sqlite(*statements: str) -> bytes:
    """A SQLite file that these statements make."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        return connection.serialize()


TABLES = (
    "CREATE TABLE DBConfig(ID INTEGER PRIMARY KEY, StaticDir TEXT, TmpDir TEXT, GraphRoot TEXT, RunRoot TEXT, GraphDriver TEXT)",
    "CREATE TABLE ContainerConfig(ID TEXT PRIMARY KEY, Name TEXT, PodID TEXT, JSON TEXT)",
    "CREATE TABLE ContainerState(ID TEXT PRIMARY KEY, State INTEGER, JSON TEXT)",
    "CREATE TABLE PodConfig(ID TEXT PRIMARY KEY, Name TEXT)",
)


def lock_table(maps: list[int], *, mutex: int = 40) -> bytes:
    """libpod's segment: these maps of 32 locks each."""
    align = 8
    head = struct.pack("=HH", 0x87D1, 0).ljust(align + mutex, b"\0") + struct.pack("=II", len(maps), 32 * len(maps))
    groups = b"".join(struct.pack("=II", found, 0) + b"\0" * (32 * mutex) for found in maps)
    return head.ljust(-(-len(head) // align) * align, b"\0") + groups
