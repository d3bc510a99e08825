"""A whole HTTP server in a thread, for clients that are not ours: real sockets, sandboxes that are processes."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

from fakes.processes import ProcessEngine
from fakes.runtime import KEY, SETTINGS
from skyrl_train.sandbox.runtime.app import application
from skyrl_train.sandbox.runtime.connections import HEAD_S
from skyrl_train.sandbox.runtime.connections import http_server as connections
from skyrl_train.sandbox.runtime.database import Database
from skyrl_train.sandbox.runtime.engine import Engine
from skyrl_train.sandbox.runtime.events import Events
from skyrl_train.sandbox.runtime.lifecycle import Runtime
from skyrl_train.sandbox.runtime.metrics import Metrics
from skyrl_train.sandbox.runtime.plan import by_mount, planner
from skyrl_train.sandbox.runtime.ports import listen
from skyrl_train.sandbox.runtime.settings import RuntimeSettings
from skyrl_train.sandbox.runtime.telemetry import Telemetry
from skyrl_train.sandbox.sandboxd.bundle import write_zipapp


@contextlib.contextmanager
def http_server(
    directory: Path,
    *,
    settings: RuntimeSettings = SETTINGS,
    engine: Engine | None = None,
    head_s: float = HEAD_S,
) -> Iterator[str]:
    """Its URL; its key is `KEY`. Its HTTP side is the real one."""
    listener, ready, over = listen("127.0.0.1"), threading.Event(), threading.Event()
    engine = engine or ProcessEngine()

    async def work() -> None:
        from time import time

        runtime = Runtime(
            engine=engine,
            engine_store="/store",
            database=Database(str(directory / "sessions.sqlite")),
            settings=settings,
            plan=planner(by_mount(str(write_zipapp(directory))), settings),
            telemetry=Telemetry(Events(time), Metrics()),
            build_directory=directory / "builds",
            now=time,
        )
        await runtime.open()
        app = application(runtime, KEY)
        server = connections(app, app.refusals.unread, head_s=head_s)
        serving = asyncio.ensure_future(server.serve(sockets=[listener]))
        while not server.started:
            await asyncio.sleep(0.01)
        ready.set()
        await asyncio.to_thread(over.wait)
        await runtime.drain(10)
        await engine.close(10)
        server.should_exit = True
        await serving

    thread = threading.Thread(target=lambda: asyncio.run(work()))
    thread.start()
    assert ready.wait(300)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        over.set()
        thread.join()
        listener.close()
