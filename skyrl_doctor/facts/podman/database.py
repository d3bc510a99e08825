"""Podman's own database: the paths that the store was created with, and the last state of each container."""

import contextlib
import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from skyrl_doctor.core.record import record
from skyrl_doctor.facts.podman.bolt import Bucket, DamageError, Reader, read_bucket, read_meta

RUNNING, PAUSED = 3, 5
"""The states in libpod that Podman treats as alive when it starts."""
_PLACES = ("graph-root", "run-root", "static-dir", "tmp-dir", "graph-driver-name")


@record(kw_only=True)
class Container:
    """A container in the database. Empty and None are values that it does not have."""

    id: str
    name: str = ""
    state: int | None = None
    created: float | None = None
    conmon_pid_file: str = ""
    lock: int | None = None


@record(kw_only=True)
class Database:
    """`damage` is why Podman cannot use the file; `unread` is why the doctor could not read it.

    The paths are those that the store was created with. Podman uses them even if its configuration has changed.
    """

    path: str = ""
    damage: str = ""
    unread: str = ""
    graph_root: str = ""
    run_root: str = ""
    static_dir: str = ""
    tmp_dir: str = ""
    driver: str = ""
    containers: tuple[Container, ...] = ()
    pod_locks: int = 0

    @property
    def known(self) -> bool:
        """Whether the containers and paths could be read."""
        return not self.damage and not self.unread


def read_bolt(path: str, read: Reader, size: int) -> Database:
    """Reads bolt_state.db, podman's database up to 4.7. An empty file is a new database."""
    if size == 0:
        return Database(path=path)
    try:
        before = read_meta(read, size)
        tree = read_bucket(read, before)
        if read_meta(read, size) != before:
            return Database(path=path, unread=f"{path}: it changed while it was read")
    except DamageError as error:
        return Database(path=path, damage=str(error))
    return _from_tree(path, tree)


def _from_tree(path: str, tree: Bucket) -> Database:
    runtime = _bucket(tree, b"runtime-config")
    places = {name: _text(runtime.get(name.encode())) for name in _PLACES}
    names = _bucket(tree, b"id-registry") or _bucket(tree, b"all-ctrs")
    found = (_container(key.decode("utf-8", "replace"), value, names.get(key)) for key, value in _buckets(tree, b"ctr"))
    return Database(
        path=path,
        graph_root=places["graph-root"],
        run_root=places["run-root"],
        static_dir=places["static-dir"],
        tmp_dir=places["tmp-dir"],
        driver=places["graph-driver-name"],
        containers=tuple(sorted(found, key=lambda one: one.id)),
        pod_locks=sum(1 for _ in _buckets(tree, b"pod")),
    )


def _container(id_: str, bucket: Bucket, name: "bytes | Bucket | None") -> Container:
    return parse_container(id_, _text(bucket.get(b"config")), _text(bucket.get(b"state")), name=_text(name))


def parse_container(id_: str, config: str, state: str, *, name: str = "") -> Container:
    """Makes a container from libpod's two JSON texts."""
    settings, status = _object(config), _object(state)
    return Container(
        id=id_,
        name=_string(settings, "name") or name,
        state=_number(status, "state"),
        created=_seconds(_string(settings, "createdTime")),
        conmon_pid_file=_string(settings, "conmonPidFile"),
        lock=_number(settings, "lockID"),
    )


def _buckets(tree: Bucket, name: bytes) -> Iterator[tuple[bytes, Bucket]]:
    for key, value in _bucket(tree, name).items():
        if not isinstance(value, bytes):
            yield key, value


def _bucket(tree: Bucket, name: bytes) -> Bucket:
    found = tree.get(name)
    return {} if found is None or isinstance(found, bytes) else found


def _text(value: "bytes | Bucket | None") -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def _object(text: str) -> dict[str, Any]:
    with contextlib.suppress(ValueError, RecursionError):
        found = json.loads(text)
        return found if isinstance(found, dict) else {}
    return {}


def _string(table: Mapping[str, Any], name: str) -> str:
    value = table.get(name)
    return value if isinstance(value, str) else ""


def _number(table: Mapping[str, Any], name: str) -> int | None:
    value = table.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _seconds(text: str) -> float | None:
    """Parses an RFC 3339 time with up to nine decimals, as Go writes it."""
    with contextlib.suppress(ValueError, OverflowError):
        return datetime.fromisoformat(text).timestamp() if text else None
    return None
