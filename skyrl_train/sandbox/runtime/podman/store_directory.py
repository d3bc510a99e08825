"""Where a server's store is, and which one it takes when an earlier one is damaged.

A damaged store is set aside: another one beside it, under the next number, is taken. Nothing is repaired, migrated or
reset; what an earlier server of this job left running in it is ended, by process id.
"""

import asyncio
import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from skyrl_train.contracts.errors import UsageError
from skyrl_train.node.apply import NotOurs, apply
from skyrl_train.node.podman_store import LOCAL_BASE, STORES, job_directory, store_name
from skyrl_train.node.prepare import Node, Prepared, runtime_node
from skyrl_train.sandbox.runtime.podman.leftovers import end_leftovers
from skyrl_train.sandbox.runtime.podman.previous_server import end_earlier
from skyrl_train.sandbox.runtime.podman.service import LONGEST_PATH
from skyrl_train.sandbox.runtime.podman.store_check import Examine, Fault, Next, images_are_whole, what_next

_SITE = ("/usr/share/containers/containers.conf", "/etc/containers/containers.conf")
SOCKET = "api.sock"


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """`environ`: of every Podman of this store. `set_aside`: earlier stores, and why they were left."""

    store: str
    run_dir: str
    environ: Mapping[str, str]
    set_aside: tuple[str, ...] = ()

    @property
    def socket(self) -> str:
        return f"{self.run_dir}/{SOCKET}"


def state_directory(*, uid: int, job_id: str | None, base: str = LOCAL_BASE) -> str:
    """The book, the lock and what is mounted: beside the store, whichever number that has."""
    return os.path.join(os.path.dirname(job_directory(uid=uid, job_id=job_id, base=base)), "runtime")


async def find_home(
    environ: Mapping[str, str], *, base: str, uid: int, kernel: str, examine: Examine, told: Callable[..., None]
) -> Home:
    """Raises UsageError where no store can be had on this node, with the doctor's words.

    For the one server that has the job's lock: what an earlier one left at work is ended first.
    """
    set_aside: list[str] = []
    images: list[str] = []
    faults: tuple[Fault, ...] = ()
    for number in range(1, STORES + 1):
        home = made_home(environ, base=base, uid=uid, kernel=kernel, number=number, images=images)
        await asyncio.to_thread(end_earlier, home.run_dir, home.socket)
        examined = await examine(home.environ)
        faults = examined.faults
        for text in examined.unseen:
            told("not seen", store=home.store, why=text)
        following = what_next(faults)
        if following is Next.USE:
            return Home(store=home.store, run_dir=home.run_dir, environ=home.environ, set_aside=tuple(set_aside))
        if following is Next.REFUSE:
            break
        why = "; ".join(map(str, faults))
        set_aside.append(f"{home.store}: {why}")
        images += [f"{home.store}/graph"] if images_are_whole(faults) else []
        ended = await asyncio.to_thread(end_leftovers, home.run_dir)
        told("store set aside", store=home.store, why=why, processes_ended=len(ended))
    raise UsageError(f"no store for sandboxes on this node: {'; '.join(map(str, faults))}")


def made_home(
    environ: Mapping[str, str], *, base: str, uid: int, kernel: str, number: int = 1, images: Sequence[str] = ()
) -> Home:
    """The store of this number, made if it is not there; nobody has looked at it."""
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
        raise UsageError(
            f"{store} is too long for a unix socket; wanted a --store of at most {LONGEST_PATH - 40} bytes"
        )
    try:
        apply(prepared.preparation)
    except (OSError, NotOurs) as error:
        raise UsageError(f"the store {store} cannot be made: {error}") from error
    changed = {setting.name: setting.value for setting in prepared.preparation.settings}
    merged = {**environ, **{each: value for each, value in changed.items() if value is not None}}
    merged["PATH"] = environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"
    return Home(store=store, run_dir=f"{store}/run", environ=merged)


def _site_conf(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The files that Podman would read without the job's own."""
    named = environ.get("CONTAINERS_CONF")
    config = environ.get("XDG_CONFIG_HOME") or f"{environ.get('HOME', '')}/.config"
    paths = (named,) if named else (*_SITE, f"{config}/containers/containers.conf")
    texts = []
    for path in paths:
        with contextlib.suppress(OSError, UnicodeDecodeError), open(path, encoding="utf-8") as file:
            texts.append(file.read())
    return tuple(texts)
