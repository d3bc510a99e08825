"""The keys of storage.conf(5) and containers.conf(5) that locate a store and its needs.

Podman refuses invalid TOML and values of the wrong type. It ignores unknown keys.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any, TypeVar

from skyrl_doctor.core.record import record

T = TypeVar("T")


@record
class BrokenFile:
    """A file that Podman needs and cannot use."""

    path: str
    why: str


@record(kw_only=True)
class StorageConf:
    """One storage.conf, without expanding variables. Empty strings are keys that are not set."""

    path: str = ""
    driver: str = ""
    graph_root: str = ""
    run_root: str = ""
    rootless_path: str = ""
    image_store: str = ""
    mount_program: str = ""
    ignore_chown_errors: bool = False
    additional_stores: tuple[str, ...] = ()


@record(kw_only=True)
class EngineConf:
    """All containers.conf files merged; later files win. None and empty are keys that no file sets.

    `texts` are the unchanged files, for a job that needs a file of its own.
    """

    files: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    lock_type: str = ""
    num_locks: int | None = None
    static_dir: str = ""
    tmp_dir: str = ""
    database_backend: str = ""
    runtime: str = ""
    runtimes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    conmon_paths: tuple[str, ...] = ()
    helper_dirs: tuple[str, ...] = ()
    network_cmd_path: str = ""
    network_backend: str = ""
    rootless_network_cmd: str = ""
    netns: str = ""


_REPLACED = (
    "lock_type",
    "static_dir",
    "tmp_dir",
    "database_backend",
    "runtime",
    "conmon_paths",
    "helper_dirs",
    "network_cmd_path",
    "network_backend",
    "rootless_network_cmd",
    "netns",
)


class _WrongTypeError(ValueError):
    """A key has a value of the wrong type."""


def parse_storage_conf(path: str, text: str) -> StorageConf | BrokenFile:
    return _parsed(path, text, lambda table: _storage(path, table))


def parse_containers_conf(path: str, text: str) -> EngineConf | BrokenFile:
    return _parsed(path, text, lambda table: replace(_engine(path, table), texts=(text,)))


def merge_engine_conf(first: EngineConf, second: EngineConf) -> EngineConf:
    """Merges two files; the keys that `second` sets win."""
    won = {name: getattr(second, name) or getattr(first, name) for name in _REPLACED}
    return replace(
        first,
        **won,
        files=(*first.files, *second.files),
        texts=(*first.texts, *second.texts),
        num_locks=first.num_locks if second.num_locks is None else second.num_locks,
        runtimes={**first.runtimes, **second.runtimes},
    )


def apply_storage_opts(conf: StorageConf, options: str) -> StorageConf:
    """Applies STORAGE_OPTS, such as `overlay.mount_program=…,overlay.ignore_chown_errors=true`. It replaces the file's options."""
    pairs = dict(_pair(item) for item in options.split(",") if "=" in item)
    stores = tuple(item.partition("=")[2] for item in options.split(",") if _pair(item)[0] == "imagestore")
    return replace(
        conf,
        mount_program=pairs.get("mount_program", ""),
        ignore_chown_errors=pairs.get("ignore_chown_errors", "") == "true",
        additional_stores=stores,
    )


def _pair(item: str) -> tuple[str, str]:
    name, _, value = item.strip().partition("=")
    return name.rpartition(".")[2], value


def _parsed(path: str, text: str, read: Callable[[dict[str, Any]], T]) -> T | BrokenFile:
    try:
        return read(tomllib.loads(text))
    except _WrongTypeError as error:
        return BrokenFile(path, f"has {error}")
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        return BrokenFile(path, f"is not valid TOML: {error}")


def _storage(path: str, table: dict[str, Any]) -> StorageConf:
    storage = _table(table, "storage")
    options = _table(storage, "options")
    driver = _text(storage, "driver")
    own = _table(options, driver) if driver in ("overlay", "vfs", "btrfs", "zfs", "aufs", "thinpool") else {}
    return StorageConf(
        path=path,
        driver=driver,
        graph_root=_text(storage, "graphroot"),
        run_root=_text(storage, "runroot"),
        rootless_path=_text(storage, "rootless_storage_path"),
        image_store=_text(storage, "imagestore"),
        mount_program=_text(own, "mount_program") or _text(options, "mount_program"),
        ignore_chown_errors="true" in (_text(own, "ignore_chown_errors"), _text(options, "ignore_chown_errors")),
        additional_stores=_texts(options, "additionalimagestores"),
    )


def _engine(path: str, table: dict[str, Any]) -> EngineConf:
    engine, network, containers = (_table(table, name) for name in ("engine", "network", "containers"))
    runtimes = _table(engine, "runtimes")
    return EngineConf(
        files=(path,),
        lock_type=_text(engine, "lock_type"),
        num_locks=_count(engine, "num_locks"),
        static_dir=_text(engine, "static_dir"),
        tmp_dir=_text(engine, "tmp_dir"),
        database_backend=_text(engine, "database_backend"),
        runtime=_text(engine, "runtime"),
        runtimes={name: _texts(runtimes, name) for name in runtimes},
        conmon_paths=_texts(engine, "conmon_path"),
        helper_dirs=_texts(engine, "helper_binaries_dir"),
        network_cmd_path=_text(engine, "network_cmd_path"),
        network_backend=_text(network, "network_backend"),
        rootless_network_cmd=_text(network, "default_rootless_network_cmd"),
        netns=_text(containers, "netns"),
    )


def _table(table: Mapping[str, Any], name: str) -> dict[str, Any]:
    return _typed(table, name, dict, "a table") or {}


def _text(table: Mapping[str, Any], name: str) -> str:
    return _typed(table, name, str, "a string") or ""


def _count(table: Mapping[str, Any], name: str) -> int | None:
    value = _typed(table, name, int, "a whole number")
    if value is not None and not 0 <= value < 1 << 32:
        raise _WrongTypeError(f"{name} = {value}: expected a number from 0 to {(1 << 32) - 1}")
    return value


def _texts(table: Mapping[str, Any], name: str) -> tuple[str, ...]:
    items = _typed(table, name, list, "a list") or []
    # {append = true} in a list means that it extends the list of an earlier file.
    if not all(isinstance(item, str | dict) for item in items):
        raise _WrongTypeError(f"{name} = {items!r}: expected a list of strings")
    return tuple(item for item in items if isinstance(item, str))


def _typed(table: Mapping[str, Any], name: str, kind: type[T], expected: str) -> T | None:
    value = table.get(name)
    if value is None:
        return None
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise _WrongTypeError(f"{name} = {value!r}: expected {expected}")
    return value
