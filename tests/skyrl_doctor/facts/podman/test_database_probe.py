"""How the database is read while others may write it."""

import base64
from collections.abc import Iterator
from typing import Any

import pytest

from fakes.podman_store import FILE, PLACES, TABLES, Bare, bolt, sqlite
from skyrl_doctor.facts.podman.database import Database
from skyrl_doctor.facts.podman.database_probe import read_database
from skyrl_doctor.facts.podman.settings import EngineConf
from skyrl_doctor.machine import queries as q
from skyrl_doctor.machine.base import Machine

BOLT, SQLITE = f"{PLACES.static_dir}/bolt_state.db", f"{PLACES.graph_root}/db.sql"
DATA = sqlite(*TABLES, "INSERT INTO DBConfig VALUES (1, '/s', '/t', '/g', '/r', 'overlay')")


class Files(Bare):
    """Files by path, as bytes; a list of bytes is one that changes with each look."""

    def __init__(self, files: dict[str, bytes], **answers: Any) -> None:
        stats = {f"stat {path}": {**FILE, "size": len(data)} for path, data in files.items()}
        super().__init__({**stats, **answers})
        self.files = files

    def answer(self, query: q.Query[Any]) -> Any:
        if isinstance(query, q.Read) and query.path in self.files:
            return self.files[query.path][query.offset : query.offset + query.limit_bytes]
        return super().answer(query)


def read(machine: Machine, *, major: int | None = 4, engine: EngineConf | None = None) -> Database:
    return read_database(
        machine, graph_root=PLACES.graph_root, static_dir=PLACES.static_dir, engine=engine or EngineConf(), major=major
    )


def test_without_a_file_there_is_no_database_yet() -> None:
    assert read(Bare({})) == Database()


def test_bolt_comes_first_where_this_podman_reads_it() -> None:
    both = Files({BOLT: bolt({b"runtime-config": {b"graph-root": b"/old"}}), SQLITE: DATA})
    assert read(both) == Database(path=BOLT, graph_root="/old")
    assert read(both, major=6).path == SQLITE
    assert read(both, engine=EngineConf(database_backend="sqlite")).path == SQLITE
    assert read(Files({SQLITE: DATA})) == Database(
        path=SQLITE, graph_root="/g", run_root="/r", static_dir="/s", tmp_dir="/t", driver="overlay"
    )


def test_sqlite_lies_in_the_static_dir_where_one_is_set() -> None:
    assert read(Files({"/static/db.sql": DATA}), engine=EngineConf(static_dir="/static")).path == "/static/db.sql"


@pytest.mark.parametrize(
    ("beside", "why"),
    [
        ("journal", f"{SQLITE} is being written: {SQLITE}-journal lies beside it"),
        ("wal", f"{SQLITE}: its newest state is in {SQLITE}-wal"),
    ],
)
def test_sqlite_with_a_transaction_beside_it_is_not_known(beside: str, why: str) -> None:
    assert read(Files({SQLITE: DATA, f"{SQLITE}-{beside}": b"x"})) == Database(path=SQLITE, unread=why)
    assert read(Files({SQLITE: DATA, f"{SQLITE}-{beside}": b""})).known


def test_what_cannot_be_read_is_not_known() -> None:
    machine = Bare({f"stat {BOLT}": {"unreadable": BOLT, "why": "Permission denied"}})
    assert read(machine) == Database(path=BOLT, unread=f"{BOLT}: Permission denied")
    huge = Files({BOLT: b""}, **{f"stat {BOLT}": {**FILE, "size": 1 << 40}})
    assert read(huge).unread == f"{BOLT} has {1 << 40} bytes; the doctor reads 67108864"


class Changing(Files):
    """A file that another look finds whole: podman was writing it."""

    def __init__(self, path: str, looks: Iterator[bytes], size: int) -> None:
        super().__init__({path: b""}, **{f"stat {path}": {**FILE, "size": size}})
        self.looks, self.path = looks, path

    def answer(self, query: q.Query[Any]) -> Any:
        if isinstance(query, q.StatOf) and query.path == self.path:
            self.files[self.path] = next(self.looks)
        return super().answer(query)


def test_a_fault_that_the_next_look_does_not_see_is_none() -> None:
    whole = bolt({b"runtime-config": {b"graph-root": b"/g"}})
    torn = whole[: 3 * 4096] + b"\xff" * 4096 + whole[4 * 4096 :]
    assert read(Changing(BOLT, iter([torn, whole]), len(whole))).graph_root == "/g"
    assert read(Changing(BOLT, iter([torn, torn]), len(whole))).damage.startswith("page 3 says")


def test_no_lock_and_no_write_is_asked_for() -> None:
    """All that is asked: what lies there, and the bytes of it."""
    asked: list[type] = []

    class Watched(Files):
        def answer(self, query: q.Query[Any]) -> Any:
            asked.append(type(query))
            return super().answer(query)

    read(Watched({BOLT: bolt({b"a": b"b"})}))
    read(Watched({SQLITE: DATA}))
    assert set(asked) == {q.StatOf, q.Read}


def test_recorded_pages_are_read_again_as_they_were() -> None:
    data = bolt({b"runtime-config": {b"graph-root": b"/old"}})
    keys = {(0, 80): "", (4096, 80): " 4096+80", (12288, 4096): " 12288+4096"}
    pages = {
        f"read {BOLT}{span}": {"base64": base64.b64encode(data[at : at + size]).decode()}
        for (at, size), span in keys.items()
    }
    assert read(Bare({**pages, f"stat {BOLT}": {**FILE, "size": len(data)}})).graph_root == "/old"
