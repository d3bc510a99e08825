"""Runs a server: opens store, engine, sessions, HTTP and the files of the job, and closes them again."""

import asyncio
import contextlib
import os
import resource
import signal
import socket
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from skyrl_train.config.sections.sandbox import SandboxSection
from skyrl_train.contracts.errors import TrainError, UsageError
from skyrl_train.node.podman_store import LOCAL_BASE
from skyrl_train.sandbox.runtime.app import application
from skyrl_train.sandbox.runtime.connections import http_server
from skyrl_train.sandbox.runtime.database import Database
from skyrl_train.sandbox.runtime.events import Events
from skyrl_train.sandbox.runtime.injection import choose_agent_server, image_sources, injector
from skyrl_train.sandbox.runtime.job_files import publish, remove_stale, withdraw
from skyrl_train.sandbox.runtime.keys import new_key
from skyrl_train.sandbox.runtime.lifecycle import Runtime
from skyrl_train.sandbox.runtime.limits import effective, limit_texts
from skyrl_train.sandbox.runtime.metrics import Metrics
from skyrl_train.sandbox.runtime.plan import planner
from skyrl_train.sandbox.runtime.podman.engine import PodmanEngine
from skyrl_train.sandbox.runtime.podman.image_supply import ImageSupply
from skyrl_train.sandbox.runtime.podman.service import Service
from skyrl_train.sandbox.runtime.podman.store_check import CheckStore, check_by_doctor
from skyrl_train.sandbox.runtime.podman.store_directory import find_store, state_directory
from skyrl_train.sandbox.runtime.ports import listen
from skyrl_train.sandbox.runtime.server_lock import only_one
from skyrl_train.sandbox.runtime.settings import RuntimeSettings
from skyrl_train.sandbox.runtime.shares import share_of
from skyrl_train.sandbox.runtime.telemetry import Telemetry

_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_KEY, _PORT = "key", "port"
_STEP_S = 0.01
_DESCRIPTORS = 65_536
"""Each connection to a sandbox takes two; the soft limit is often 1024."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """`environ`: of the job. `base`: the directory of all stores. `check_store`: checks a store before its use."""

    job_dir: str
    settings: RuntimeSettings
    environ: Mapping[str, str]
    port: int = 0
    base: str = LOCAL_BASE
    drain_s: float = 25.0
    sandbox: SandboxSection = field(default_factory=SandboxSection)
    """The agent server of sandboxes, and the sources of their images."""
    check_store: CheckStore = check_by_doctor


async def serve(options: Options) -> int:
    """Serves until a signal; returns 0 when everything it started is gone. Raises TrainError if it cannot start."""
    stop_signal = asyncio.Event()
    raise_descriptor_limit()
    for number in _SIGNALS:
        asyncio.get_running_loop().add_signal_handler(number, stop_signal.set)
    state = state_directory(uid=os.getuid(), job_id=options.environ.get("SLURM_JOB_ID"), base=options.base)
    async with only_one(state):
        remove_stale(options.job_dir)
        async with _opened(options, state) as (runtime, key, listener):
            app = application(runtime, key)
            server = http_server(app, app.refusals.unread)
            serving = asyncio.ensure_future(server.serve(sockets=[listener]))
            url = f"http://{_url_host(options.settings.host)}:{listener.getsockname()[1]}"
            while not server.started and not serving.done():
                await asyncio.sleep(_STEP_S)
            publish(options.job_dir, url=url, key=key)
            runtime.telemetry.events.add("ready for clients", url=url)
            await _wait_for_end(serving, stop_signal)
            withdraw(options.job_dir)
            await runtime.drain(options.drain_s)
            server.should_exit = True
            await serving
    return 0


@contextlib.asynccontextmanager
async def _opened(options: Options, state: str) -> AsyncIterator[tuple[Runtime, str, socket.socket]]:
    events = Events(time.time)
    uid, base = os.getuid(), options.base
    directory = await find_store(
        options.environ,
        base=base,
        uid=uid,
        kernel=os.uname().release,
        check_store=options.check_store,
        add_event=events.add,
    )
    settings, share = options.settings, share_of(options.settings.slots)
    database = Database(f"{state}/sessions.sqlite", keep_ended=settings.keep_ended)
    key = _saved_or_new(database, _KEY, new_key())
    listener = _listener(database, settings.host, options.port)
    metrics = Metrics()

    def on_engine_restart(text: str) -> None:
        metrics.engine_restarts.inc()
        events.add("service ended", why=text)

    chosen = await asyncio.to_thread(choose_agent_server, options.sandbox, Path(state) / "mounts")
    events.add("agent server", name=chosen.name)
    service = Service(directory.socket, directory.environ, on_engine_restart)
    ways = image_sources(options.sandbox, chosen)
    prefix = options.sandbox.image_prefix
    supply = ImageSupply(
        directory.environ,
        ways,
        prefix=prefix,
        network=settings.network,
        run_dir=directory.run_dir,
        add_event=events.add,
    )
    engine = PodmanEngine(
        service, supply, run_dir=directory.run_dir, threads=settings.starts_at_once + 8,
        strict=options.sandbox.strict_system_calls, add_event=events.add,
    )  # fmt: skip
    runtime = Runtime(
        engine=engine,
        engine_store=directory.store,
        database=database,
        settings=settings,
        plan=planner(injector(chosen, settings, as_root=options.sandbox.run_as_root), settings, share),
        share=share,
        derive=chosen.derive,
        telemetry=Telemetry(events, metrics),
        build_directory=Path(state) / "builds",
        now=time.time,
    )
    try:
        await engine.open()
        runtime.limits = effective(settings, engine.host)
        events.add("limits", **limit_texts(runtime.limits))
        await runtime.open()
        yield runtime, key, listener
    finally:
        await runtime.abandon()
        await engine.close(options.drain_s)
        listener.close()


def raise_descriptor_limit() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _saved_or_new(database: Database, name: str, new: str) -> str:
    """Clients of a killed server find the next one with the same key at the same port."""
    known = database.setting(name)
    if known is None:
        database.set(name, new)
    return known or new


def _listener(database: Database, host: str, port: int) -> socket.socket:
    chosen_port = port or int(database.setting(_PORT) or 0)
    try:
        listener = listen(host, chosen_port)
    except OSError as error:
        if port:
            raise UsageError(
                f"{host}:{port} cannot be used: {error.strerror}; choose another --port, or pass --port 0"
            ) from error
        listener = listen(host, 0)
    database.set(_PORT, str(listener.getsockname()[1]))
    return listener


async def _wait_for_end(serving: "asyncio.Future[None]", stop_signal: asyncio.Event) -> None:
    ended = asyncio.ensure_future(stop_signal.wait())
    both: set[asyncio.Future[object]] = {serving, ended}  # type: ignore[arg-type]  # what they give is not asked for
    await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    ended.cancel()
    if serving.done():
        raise TrainError(f"the HTTP server stopped unexpectedly: {serving.exception()!r}")


def _url_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host
