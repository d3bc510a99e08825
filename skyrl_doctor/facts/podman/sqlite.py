"""Reads db.sql, podman's database since 4.8, from its bytes. SQLite does not open the file, so it takes no lock."""

import struct
from contextlib import closing
from typing import TYPE_CHECKING

from skyrl_doctor.facts.podman.database import Container, Database, parse_container

if TYPE_CHECKING:
    import sqlite3

MAGIC = b"SQLite format 3\0"
_HEADER = struct.Struct(">16sHBBBBBBII")
_HEADER_SIZE = 100
_VALID_FOR = 92
COUNTER_AT, COUNTER_SIZE = 24, 4
_PLACES = "SELECT GraphRoot, RunRoot, StaticDir, TmpDir, GraphDriver FROM DBConfig LIMIT 1"
_CONTAINERS = """
SELECT c.ID, c.Name, c.JSON, s.JSON FROM ContainerConfig c LEFT JOIN ContainerState s ON s.ID = c.ID ORDER BY c.ID
"""
_PODS = "SELECT count(*) FROM PodConfig"


def read_sqlite(path: str, data: bytes) -> Database:
    """Reads the database in these bytes. An empty file is a new database."""
    if not data:
        return Database(path=path)
    damage = header_damage(data)
    if damage:
        return Database(path=path, damage=damage)
    import sqlite3  # slow to import, and only a store of Podman 5 needs it

    if not hasattr(sqlite3.Connection, "deserialize"):
        return Database(path=path, unread=f"{path}: this Python's sqlite3 cannot read a database from memory")
    try:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.deserialize(_out_of_wal(data))
            return _read_tables(path, connection)
    except sqlite3.OperationalError as error:  # a missing table or column: the file is new or of a later Podman
        return Database(path=path, unread=f"{path}: it has other tables than the doctor expects: {error}")
    except (sqlite3.Error, ValueError, OverflowError, UnicodeError) as error:
        return Database(path=path, damage=f"SQLite error: {error}")


def header_damage(data: bytes) -> str:
    """The damage that the file's first 100 bytes show: another format, or missing pages."""
    if len(data) < _HEADER_SIZE or not data.startswith(MAGIC):
        return "it does not start with a SQLite header"
    _, said_size, _, _, _, _, _, _, counter, pages = _HEADER.unpack_from(data)
    page_size = 65536 if said_size == 1 else said_size
    if page_size < 512 or page_size & (page_size - 1):
        return f"its page size is invalid: {said_size} bytes"
    (valid_for,) = struct.unpack_from(">I", data, _VALID_FOR)
    if valid_for == counter and len(data) < pages * page_size:
        return f"it is truncated: {len(data)} bytes, expected {pages * page_size}"
    return ""


def change_counter(header: bytes) -> bytes:
    """The bytes that change with each transaction."""
    return header[COUNTER_AT : COUNTER_AT + COUNTER_SIZE]


def _out_of_wal(data: bytes) -> bytes:
    """Sets the header to rollback-journal mode: SQLite cannot open a write-ahead-log database from memory."""
    return data[:18] + b"\x01\x01" + data[20:]


def _read_tables(path: str, connection: "sqlite3.Connection") -> Database:
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    graph, run, static, tmp, driver = connection.execute(_PLACES).fetchone() or ("", "", "", "", "")
    found = tuple(_container(*row) for row in connection.execute(_CONTAINERS))
    (pods,) = connection.execute(_PODS).fetchone()
    return Database(
        path=path,
        graph_root=_text(graph),
        run_root=_text(run),
        static_dir=_text(static),
        tmp_dir=_text(tmp),
        driver=_text(driver),
        containers=found,
        pod_locks=pods,
    )


def _container(id_: object, name: object, config: object, state: object) -> Container:
    return parse_container(_text(id_), _text(config), _text(state), name=_text(name))


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else ""
