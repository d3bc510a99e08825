"""The containers.conf(5) of a job: the site's settings and those that the job's own store needs.

The file in CONTAINERS_CONF replaces all others, and the process that cleans up after a container reads only that
variable. So the job's file also holds the site's settings, such as an OCI runtime or limits.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

LOCK_TYPE = "file"
"""Locks as files in the store's runtime directory. The default is a limited segment in /dev/shm, which all stores of a user share."""

_WITHOUT_SYSTEMD = {"cgroup_manager": "cgroupfs", "events_logger": "file"}
"""Defaults for a Slurm job, which has no user systemd and no journal. The site's settings take precedence."""
_PLACES = ("static_dir", "tmp_dir", "volume_path", "num_locks")
"""Settings that would point outside the job's store."""
_BARE = re.compile(r"[A-Za-z0-9_-]+")

Table = dict[str, Any]


def job_containers_conf(site: Sequence[str] = ()) -> str:
    """The text of the job's file. `site` holds the texts of the files that Podman would read instead, in its order.

    A comment names a file that is not valid TOML.
    """
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
    """The lines of a table, plain values first: a key after a sub-table would belong to the sub-table."""
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
