"""containers.conf(5) of a job: what the site says, with what a store of the job's own needs.

A file that CONTAINERS_CONF names replaces all others, and the process that cleans up after a container knows that
variable only. So the job's file holds the site's settings too: an OCI runtime or limits without which nothing starts.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

LOCK_TYPE = "file"
"""One file a lock, in the store's own runtime directory: no /dev/shm segment shared by all stores of a user, no limit."""

_WITHOUT_SYSTEMD = {"cgroup_manager": "cgroupfs", "events_logger": "file"}
"""A Slurm job has neither a user's systemd nor its journal; what the site says comes before."""
_PLACES = ("static_dir", "tmp_dir", "volume_path", "num_locks")
"""Would lead out of the job's own store."""
_BARE = re.compile(r"[A-Za-z0-9_-]+")

Table = dict[str, Any]


def job_containers_conf(site: Sequence[str] = ()) -> str:
    """`site` are the texts of the files that Podman reads without this one, in its order. One that is no TOML is named."""
    merged: Table = {}
    notes: list[str] = []
    for number, text in enumerate(site, start=1):
        try:
            _merge(merged, tomllib.loads(text))
        except tomllib.TOMLDecodeError as error:
            notes.append(f"# left out: file {number} of the site is not valid TOML: {error}\n".replace("\r", " "))
    engine = merged.get("engine")
    kept = {name: value for name, value in engine.items() if name not in _PLACES} if isinstance(engine, dict) else {}
    merged["engine"] = {**_WITHOUT_SYSTEMD, **kept, "lock_type": LOCK_TYPE}
    return "".join((*notes, *_lines(merged, ())))


def _merge(into: Table, table: Mapping[str, Any]) -> None:
    for name, value in table.items():
        known = into.get(name)
        if isinstance(value, dict) and isinstance(known, dict):
            _merge(known, value)
        elif isinstance(value, list) and isinstance(known, list) and {"append": True} in value:
            into[name] = [*known, *(item for item in value if item != {"append": True})]
        else:
            into[name] = value


def _lines(table: Table, path: tuple[str, ...]) -> Iterator[str]:
    """The table's own values first: a key after a sub-table would belong to that."""
    plain = {name: value for name, value in table.items() if not isinstance(value, dict)}
    if path and (plain or not table):
        yield f"[{'.'.join(map(_key, path))}]\n"
    for name, value in plain.items():
        yield f"{_key(name)} = {_value(value)}\n"
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _lines(value, (*path, name))


def _value(value: object) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(name)} = {_value(item)}" for name, item in value.items()) + "}"
    return str(value)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _value(name)
