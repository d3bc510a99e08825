"""What the two kinds of database say, and what a damaged one does not."""

import json

from hypothesis import given
from hypothesis import strategies as st

from fakes.podman_store import TABLES, bolt, sqlite
from skyrl_doctor.facts.podman.bolt import Reader
from skyrl_doctor.facts.podman.database import Container, Database, parse_container, read_bolt
from skyrl_doctor.facts.podman.sqlite import change_counter, header_damage, read_sqlite

CONFIG = {"name": "rollout", "createdTime": "2026-11-20T10:00:00.123456789Z", "conmonPidFile": "/c.pid", "lockID": 3}
FOUND = Container(id="abc", name="rollout", state=3, created=1795168800.123456, conmon_pid_file="/c.pid", lock=3)
PLACES = {"graph_root": "/g", "run_root": "/r", "static_dir": "/g/libpod", "tmp_dir": "/t", "driver": "overlay"}


def reader(data: bytes) -> Reader:
    return lambda at, size: data[at : at + size]


def of_bolt(data: bytes) -> Database:
    return read_bolt("x.db", reader(data), len(data))


def test_bolt_gives_places_and_containers() -> None:
    config, state = json.dumps(CONFIG).encode(), b'{"state":3}'
    tree = {
        b"runtime-config": {
            b"graph-root": b"/g",
            b"run-root": b"/r",
            b"static-dir": b"/g/libpod",
            b"tmp-dir": b"/t",
            b"graph-driver-name": b"overlay",
        },
        b"ctr": {b"abc": {b"config": config, b"state": state}},
        b"pod": {b"p": {b"config": b"{}"}},
    }
    assert of_bolt(bolt(tree)) == Database(path="x.db", containers=(FOUND,), pod_locks=1, **PLACES)


def test_an_empty_file_is_a_new_database() -> None:
    assert (of_bolt(b""), read_sqlite("y", b"")) == (Database(path="x.db"), Database(path="y"))


def test_bolt_that_changes_while_it_is_read_is_not_known() -> None:
    first, second = bolt({b"a": b"1"}), bolt({b"a": b"1"}, transaction=3)
    answers = iter([first] * 3 + [second] * 9)
    found = read_bolt("x.db", lambda at, size: next(answers)[at : at + size], len(first))
    assert found == Database(path="x.db", unread="x.db: it changed while it was read")


def test_what_a_container_does_not_say_stays_open() -> None:
    assert parse_container("a", "no JSON", "[]") == Container(id="a")
    assert parse_container("a", '{"lockID": true, "createdTime": "today"}', '{"state": "3"}') == Container(id="a")


SQLITE = sqlite(
    *TABLES,
    "INSERT INTO DBConfig VALUES (1, '/g/libpod', '/t', '/g', '/r', 'overlay')",
    f"INSERT INTO ContainerConfig VALUES ('abc', 'rollout', NULL, '{json.dumps(CONFIG)}')",
    # libpod keeps the state in the text; the column stays at what it was first.
    "INSERT INTO ContainerState VALUES ('abc', 1, CAST('{\"state\":3}' AS BLOB))",
    "INSERT INTO PodConfig VALUES ('p', 'pod')",
)


def test_sqlite_gives_places_and_containers() -> None:
    assert read_sqlite("db.sql", SQLITE) == Database(path="db.sql", containers=(FOUND,), pod_locks=1, **PLACES)


def test_sqlite_with_a_write_ahead_log_is_read_all_the_same() -> None:
    logged = SQLITE[:18] + b"\x02\x02" + SQLITE[20:]
    assert read_sqlite("db.sql", logged).containers == (FOUND,)


def test_says_how_sqlite_is_damaged() -> None:
    assert header_damage(b"\xa5" * 4096) == "it does not start with a SQLite header"
    assert header_damage(SQLITE[:-4096]) == f"it is truncated: {len(SQLITE) - 4096} bytes, expected {len(SQLITE)}"
    assert header_damage(SQLITE[:16] + b"\x03\x01" + SQLITE[18:]) == "its page size is invalid: 769 bytes"
    spoilt = SQLITE[:4096] + b"\xff" * (len(SQLITE) - 4096)
    assert read_sqlite("db.sql", spoilt).damage.startswith("SQLite error: ")


def test_tables_of_a_later_podman_are_unread_not_damaged() -> None:
    found = read_sqlite("db.sql", sqlite("CREATE TABLE Other(ID TEXT)"))
    assert (found.damage, found.unread.startswith("db.sql: it has other tables than the doctor expects")) == (
        "",
        True,
    )


def test_each_transaction_changes_the_counter() -> None:
    assert change_counter(SQLITE[24:28].rjust(28)) == SQLITE[24:28]


@given(st.binary(max_size=300), st.integers(0, len(SQLITE) - 300))
def test_no_damage_crashes_the_reader(garbage: bytes, at: int) -> None:
    found = read_sqlite("db.sql", SQLITE[:at] + garbage + SQLITE[at + len(garbage) :])
    assert isinstance(found, Database)


@given(st.binary(min_size=1, max_size=9000))
def test_garbage_is_never_a_database(data: bytes) -> None:
    assert (read_sqlite("y", data).damage != "", of_bolt(data).damage != "") == (True, True)
