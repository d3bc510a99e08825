"""Chooses a server's store, another one if the first is damaged.

A damaged store is set aside and the next number beside it is used. Nothing is repaired, migrated or reset; processes
that an earlier server of this job left in it are killed by id.
"""

import asyncio
import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from skyrl_train.contracts import bounded
from skyrl_train.contracts.errors import UsageError
from skyrl_train.node.apply import NotOurs, apply
from skyrl_train.node.podman_store import LOCAL_BASE, STORES, job_directory, store_name
from skyrl_train.node.prepare import Node, Prepared, runtime_node
from skyrl_train.sandbox.runtime.podman.leftovers import end_leftovers
from skyrl_train.sandbox.runtime.podman.previous_server import end_previous
from skyrl_train.sandbox.runtime.podman.service import LONGEST_PATH
from skyrl_train.sandbox.runtime.podman.store_check import (
    CheckStore,
    StoreDecision,
    StoreFault,
    decide,
    images_are_whole,
)

_SITE = ("/usr/share/containers/containers.conf", "/etc/containers/containers.conf")
SOCKET = "api.sock"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreDirectory:
    """`environ`: for every Podman of this store. `set_aside`: earlier stores with the reason."""

    store: str
    run_dir: str
    environ: Mapping[str, str]
    set_aside: tuple[str, ...] = ()

    @property
    def socket(self) -> str:
        return f"{self.run_dir}/{SOCKET}"


def state_directory(*, uid: int, job_id: str | None, base: str = LOCAL_BASE) -> str:
    """The directory of database, lock and mounted files: beside the store, whatever its number."""
    return os.path.join(os.path.dirname(job_directory(uid=uid, job_id=job_id, base=base)), "runtime")


async def find_store(
    environ: Mapping[str, str],
    *,
    base: str,
    uid: int,
    kernel: str,
    check_store: CheckStore,
    add_event: Callable[..., None],
) -> StoreDirectory:
    """Raises UsageError with the doctor's findings if this node has no usable store.

    Only for the server that has the job's lock: it kills what an earlier one left running.
    """
    set_aside: list[str] = []
    images: list[str] = []
    faults: tuple[StoreFault, ...] = ()
    for number in range(1, STORES + 1):
        directory = create_store(environ, base=base, uid=uid, kernel=kernel, number=number, images=images)
        await asyncio.to_thread(end_previous, directory.run_dir, directory.socket)
        report = await check_store(directory.environ)
        faults = report.faults
        for text in report.unchecked:
            add_event("store not fully checked", store=directory.store, why=text)
        following = decide(faults)
        if following is StoreDecision.USE:
            return StoreDirectory(
                store=directory.store, run_dir=directory.run_dir, environ=directory.environ, set_aside=tuple(set_aside)
            )
        if following is StoreDecision.REFUSE:
            break
        why = "; ".join(map(str, faults))
        set_aside.append(f"{directory.store}: {why}")
        images += [f"{directory.store}/graph"] if images_are_whole(faults) else []
        ended = await asyncio.to_thread(end_leftovers, directory.run_dir)
        add_event("store set aside", store=directory.store, why=why, processes_ended=len(ended))
    raise UsageError(f"no usable store for sandboxes on this node: {'; '.join(map(str, faults))}")


def create_store(
    environ: Mapping[str, str], *, base: str, uid: int, kernel: str, number: int = 1, images: Sequence[str] = ()
) -> StoreDirectory:
    """The store of this number, created if missing; it is not checked yet."""
    name = store_name(environ.get("SLURM_JOB_ID") or "local", number)
    node = Node(
        environ={**environ, "SLURM_JOB_ID": name},
        uid=uid,
        user=environ.get("USER", ""),
        home=environ.get("HOME", "/"),
        kernel=kernel,
        image_stores=images,
        site_conf=_site_conf(environ),
        store_base=base,
    )
    prepared: Prepared = runtime_node(node)
    if prepared.refusals:
        raise UsageError(prepared.refusals[0])
    store = job_directory(uid=uid, job_id=name, base=base)
    if len(f"{store}/run/{SOCKET}".encode()) > LONGEST_PATH:
        raise UsageError(f"{store} is too long for a unix socket; use a --store of at most {LONGEST_PATH - 40} bytes")
    try:
        apply(prepared.preparation)
    except (OSError, NotOurs) as error:
        raise UsageError(f"the store {store} cannot be created: {error}") from error
    changed = {setting.name: setting.value for setting in prepared.preparation.settings}
    merged = {**environ, **{each: value for each, value in changed.items() if value is not None}}
    merged["PATH"] = environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"
    return StoreDirectory(store=store, run_dir=f"{store}/run", environ=merged)


def _site_conf(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The files that Podman would read without the job's own configuration."""
    named = environ.get("CONTAINERS_CONF")
    config = environ.get("XDG_CONFIG_HOME") or f"{environ.get('HOME', '')}/.config"
    paths = (named,) if named else (*_SITE, f"{config}/containers/containers.conf")
    texts = []
    for path in paths:
        with contextlib.suppress(OSError, UnicodeDecodeError):
            texts.append(bounded.read_text(path))
    return tuple(texts)
