"""sandboxd, as a process of its own, in the place of OpenHands' service of bash commands."""

import asyncio
import contextlib
import os
import tempfile
import time
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
from openhands.agent_server import bash_service  # type: ignore[import-not-found]
from openhands.agent_server.models import (  # type: ignore[import-not-found]
    BashCommand,
    BashEventPage,
    BashOutput,
)

from sandboxd_process import KEY, running
from skyrl_train.contracts import sandboxd_api

LIMIT_S = 60.0
_services: list["Service"] = []
_KINDS = {"BashCommand": BashCommand, "BashOutput": BashOutput}


class Service:
    """What the tests ask of a BashEventService. The server starts at the first request, with the environment of then."""

    def __init__(self, bash_events_dir: Path) -> None:  # noqa: ARG002 -- sandboxd keeps its events in memory
        self._open = contextlib.ExitStack()
        self._served: httpx.Client | None = None
        self._subscribers: list[Any] = []
        _services.append(self)
        self.default_cwd = None

    async def __aenter__(self) -> "Service":
        return self

    async def __aexit__(self, *_: object) -> None:
        pass  # the tests read events after it

    async def subscribe_to_events(self, subscriber: Any) -> None:
        self._subscribers.append(subscriber)

    async def start_bash_command(self, request: Any) -> tuple[Any, "asyncio.Task[None]"]:
        asked = {"command": request.command, "cwd": request.cwd, "timeout": request.timeout}
        command = _event(await self._json("POST", sandboxd_api.BASH_START, json=asked))
        await self._tell(command)
        return command, asyncio.create_task(self._follow(command.id))

    async def _follow(self, command_id: UUID) -> None:
        until = time.monotonic() + LIMIT_S
        while time.monotonic() < until:
            page = await self.search_bash_events(command_id__eq=command_id)
            if page.items and page.items[-1].exit_code is not None:
                for output in page.items:
                    await self._tell(output)
                return
            await asyncio.sleep(0.02)

    async def get_bash_event(self, event_id: str) -> Any:
        answer = await asyncio.to_thread(self._client.get, f"{sandboxd_api.BASH_EVENTS}/{event_id}")
        return _event(answer.json()) if answer.status_code == httpx.codes.OK else None

    async def batch_get_bash_events(self, event_ids: list[str]) -> list[Any]:
        return [await self.get_bash_event(event_id) for event_id in event_ids]

    async def search_bash_events(self, **asked: Any) -> Any:
        given = {name: getattr(value, "name", str(value)) for name, value in asked.items() if value is not None}
        page = await self._json("GET", sandboxd_api.BASH_SEARCH, params=given)
        return BashEventPage(items=[_event(one) for one in page["items"]], next_page_id=page["next_page_id"])

    async def clear_all_events(self) -> int:
        count: int = (await self._json("DELETE", sandboxd_api.BASH_EVENTS))["cleared_count"]
        return count

    async def _json(self, method: str, path: str, **more: Any) -> Any:
        answer = await asyncio.to_thread(self._client.request, method, path, **more)
        return answer.raise_for_status().json()

    async def _tell(self, event: Any) -> None:
        for subscriber in self._subscribers:
            await subscriber(event)

    @property
    def _client(self) -> httpx.Client:
        if self._served is None:
            folder = self._open.enter_context(tempfile.TemporaryDirectory())
            env = {**os.environ, "OH_SESSION_API_KEYS_0": KEY}
            self._served = self._open.enter_context(running(Path(folder), env=env)).client
        return self._served

    def close(self) -> None:
        self._open.close()


def _event(data: dict[str, Any]) -> Any:
    return _KINDS[data["kind"]].model_validate(data)


def pytest_runtest_teardown() -> None:
    """Ends the servers of a test."""
    while _services:
        _services.pop().close()


bash_service.BashEventService = Service
