"""A server from its options to its end: store, engine, sessions, HTTP, the files of the job, and the way back."""

import asyncio
import contextlib
import os
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
from skyrl_train.sandbox.runtime.injection import choose, injector, ways_of
from skyrl_train.sandbox.runtime.job_files import publish, remove_stale, withdraw
from skyrl_train.sandbox.runtime.keys import new_key
from skyrl_train.sandbox.runtime.lifecycle import Runtime
from skyrl_train.sandbox.runtime.limits import effective
from skyrl_train.sandbox.runtime.limits import told as told_of
from skyrl_train.sandbox.runtime.metrics import Metrics
from skyrl_train.sandbox.runtime.plan import planner
from skyrl_train.sandbox.runtime.podman.engine import PodmanEngine
from skyrl_train.sandbox.runtime.podman.image_supply import ImageSupply
from skyrl_train.sandbox.runtime.podman.service import Service
from skyrl_train.sandbox.runtime.podman.store_check import Examine, by_doctor
from skyrl_train.sandbox.runtime.podman.store_directory import find_home, state_directory
from skyrl_train.sandbox.runtime.ports import listen
from skyrl_train.sandbox.runtime.server_lock import only_one
from skyrl_train.sandbox.runtime.settings import RuntimeSettings
from skyrl_train.sandbox.runtime.telemetry import Telemetry

_ENDS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_KEY, _PORT = "key", "port"
_STEP_S = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """`environ`: of the job. `base`: where stores are made. `examine`: who looks at a store first."""

    job_dir: str
    settings: RuntimeSettings
    environ: Mapping[str, str]
    port: int = 0
    base: str = LOCAL_BASE
    drain_s: float = 25.0
    sandbox: SandboxSection = field(default_factory=SandboxSection)
    """Which agent server sandboxes get, and where their images come from."""
    examine: Examine = by_doctor


async def serve(options: Options) -> int:
    """Until a signal; 0 when everything that was started is gone. Raises TrainError where it cannot come up."""
    ends = asyncio.Event()
    for number in _ENDS:
        asyncio.get_running_loop().add_signal_handler(number, ends.set)
    state = state_directory(uid=os.getuid(), job_id=options.environ.get("SLURM_JOB_ID"), base=options.base)
    async with only_one(state):
        remove_stale(options.job_dir)
        async with _opened(options, state) as (runtime, key, listener):
            app = application(runtime, key)
            server = http_server(app, app.refusals.unread)
            serving = asyncio.ensure_future(server.serve(sockets=[listener]))
            url = f"http://{_shown(options.settings.host)}:{listener.getsockname()[1]}"
            while not server.started and not serving.done():
                await asyncio.sleep(_STEP_S)
            publish(options.job_dir, url=url, key=key)
            runtime.telemetry.events.add("ready for clients", url=url)
            await _first(serving, ends)
            withdraw(options.job_dir)
            await runtime.drain(options.drain_s)
            server.should_exit = True
            await serving
    return 0


@contextlib.asynccontextmanager
async def _opened(options: Options, state: str) -> AsyncIterator[tuple[Runtime, str, socket.socket]]:
    events = Events(time.time)
    uid, base = os.getuid(), options.base
    home = await find_home(
        options.environ, base=base, uid=uid, kernel=os.uname().release, examine=options.examine, told=events.add
    )
    settings = options.settings
    database = Database(f"{state}/sessions.sqlite", keep_ended=settings.keep_ended)
    key = _kept(database, _KEY, new_key())
    listener = _listener(database, settings.host, options.port)
    metrics = Metrics()

    def told(text: str) -> None:
        metrics.engine_restarts.inc()
        events.add("service ended", why=text)

    chosen = await asyncio.to_thread(choose, options.sandbox, Path(state) / "mounts")
    events.add("agent server", name=chosen.name)
    service = Service(home.socket, home.environ, told)
    ways = ways_of(options.sandbox, chosen)
    prefix = options.sandbox.image_prefix
    supply = ImageSupply(
        home.environ, ways, prefix=prefix, network=settings.network, run_dir=home.run_dir, told=events.add
    )
    engine = PodmanEngine(service, supply, run_dir=home.run_dir, threads=settings.starts_at_once + 8, told=events.add)
    runtime = Runtime(
        engine=engine,
        engine_store=home.store,
        database=database,
        settings=settings,
        plan=planner(injector(chosen, settings, as_root=options.sandbox.run_as_root), settings),
        derive=chosen.derive,
        telemetry=Telemetry(events, metrics),
        build_directory=Path(state) / "builds",
        now=time.time,
    )
    try:
        await engine.open()
        runtime.limits = effective(settings, engine.host)
        events.add("limits", **told_of(runtime.limits))
        await runtime.open()
        yield runtime, key, listener
    finally:
        await runtime.abandon()
        await engine.close(options.drain_s)
        listener.close()


def _kept(database: Database, name: str, new: str) -> str:
    """The clients of a server that was killed come back to the next one with the same key, at the same port."""
    known = database.setting(name)
    if known is None:
        database.set(name, new)
    return known or new


def _listener(database: Database, host: str, port: int) -> socket.socket:
    wanted = port or int(database.setting(_PORT) or 0)
    try:
        listener = listen(host, wanted)
    except OSError as error:
        if port:
            raise UsageError(
                f"{host}:{port} cannot be listened at: {error.strerror}; choose another --port, or 0"
            ) from error
        listener = listen(host, 0)
    database.set(_PORT, str(listener.getsockname()[1]))
    return listener


async def _first(serving: "asyncio.Future[None]", ends: asyncio.Event) -> None:
    ended = asyncio.ensure_future(ends.wait())
    both: set[asyncio.Future[object]] = {serving, ended}  # type: ignore[arg-type]  # what they give is not asked for
    await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    ended.cancel()
    if serving.done():
        raise TrainError(f"the HTTP server ended by itself: {serving.exception()!r}")


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host
