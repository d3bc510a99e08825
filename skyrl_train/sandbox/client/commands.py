"""Runs a command in a sandbox: starts it once, then polls its output until it ends.

Only the start must not be sent twice. Polling may be repeated, so a lost connection loses no output.
"""

import asyncio
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import httpx

from skyrl_train.contracts import sandboxd_api as agent
from skyrl_train.sandbox.client.failures import Cause, SandboxError

_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.002, 0.25
_GRACE_S = 15.0
"""Beyond a command's limit: the server kills it with SIGTERM, then SIGKILL, and reports it."""
_PAGE = 100
NOTICE = "\n[... {more} more characters were left out ...]\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandResult:
    """`exit_code` is TIMED_OUT if the command hit its limit. `truncated`: there was more output than was kept."""

    command: str
    exit_code: int
    stdout: str
    stderr: str
    timed_out: bool = False
    truncated: bool = False


class AgentServer(Protocol):
    """The requests that a command makes."""

    async def ask(
        self,
        operation: str,
        method: str,
        path: str,
        *,
        repeatable: bool,
        json: object = None,
        params: Mapping[str, str] | None = None,
        limit_s: float = ...,
        expected: frozenset[int] = ...,
    ) -> httpx.Response: ...

    def failed(self, cause: Cause, operation: str, detail: str) -> SandboxError: ...

    async def sleep(self, seconds: float) -> None: ...


class BoundedText:
    """The beginning of a text of any length, and how much more there was."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[str] = []
        self._size = 0
        self.more = 0

    def add(self, text: str) -> None:
        kept = text[: max(0, self._limit - self._size)]
        self._size += len(kept)
        self.more += len(text) - len(kept)
        if kept:
            self._parts.append(kept)

    @property
    def text(self) -> str:
        return "".join(self._parts) + (NOTICE.format(more=self.more) if self.more else "")


class Command:
    """One run of a command."""

    def __init__(self, server: AgentServer, command: str, *, timeout_s: float, cwd: str | None, max_chars: int) -> None:
        self._server = server
        self._command = command
        self._timeout_s = max(1, round(timeout_s + 0.499))  # the API counts whole seconds
        self._cwd = cwd
        self._out, self._err = BoundedText(max_chars), BoundedText(max_chars)
        self._id = ""
        self._last_order: int | None = None

    async def run(self) -> CommandResult:
        body: dict[str, object] = {"command": self._command, "timeout": self._timeout_s}
        if self._cwd is not None:
            body["cwd"] = self._cwd
        response = await self._server.ask("execute", "POST", agent.BASH_START, repeatable=False, json=body)
        self._id = self._identity(response.json())
        try:
            async with asyncio.timeout(self._timeout_s + _GRACE_S):
                return await self._ended()
        except TimeoutError:
            await self._stop()
            detail = f"the command is still running {_GRACE_S:g} s after its limit of {self._timeout_s} s"
            raise self._server.failed(Cause.LOST, "execute", detail) from None
        except asyncio.CancelledError:
            await asyncio.shield(self._stop())
            raise

    async def _ended(self) -> CommandResult:
        wait_s = _FIRST_WAIT_S
        while True:
            events = await self._news()
            for event in events:
                code = self._add_event(event)
                if code is not None:
                    return self._result(code)
            if len(events) < _PAGE:
                await self._server.sleep(wait_s)
                wait_s = _FIRST_WAIT_S if events else min(1.5 * wait_s, _LONGEST_WAIT_S)

    async def _news(self) -> list[dict[str, Any]]:
        params = {
            "kind__eq": agent.BASH_OUTPUT,
            "command_id__eq": self._id,
            "sort_order": "TIMESTAMP",
            "limit": str(_PAGE),
        }
        if self._last_order is not None:
            params["order__gt"] = str(self._last_order)
        response = await self._server.ask("execute", "GET", agent.BASH_SEARCH, repeatable=True, params=params)
        body = response.json()
        items = body.get("items") if isinstance(body, dict) else None
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise self._server.failed(Cause.GARBLED, "execute", "the agent server's answer has no list of events")
        return sorted(items, key=lambda item: item["order"] if isinstance(item.get("order"), int) else 0)

    def _add_event(self, event: dict[str, Any]) -> int | None:
        """The event's exit code; None while the command runs. Ignores an event that was already seen."""
        order = event.get("order")
        if isinstance(order, int):
            if self._last_order is not None and order <= self._last_order:
                return None
            self._last_order = order
        for kept, name in ((self._out, "stdout"), (self._err, "stderr")):
            text = event.get(name)
            kept.add(text if isinstance(text, str) else "")
        code = event.get("exit_code")
        return code if isinstance(code, int) else None

    def _result(self, code: int) -> CommandResult:
        return CommandResult(
            command=self._command,
            exit_code=code,
            stdout=self._out.text,
            stderr=self._err.text,
            timed_out=code == agent.TIMED_OUT,
            truncated=bool(self._out.more or self._err.more),
        )

    def _identity(self, body: object) -> str:
        found = body.get("id") if isinstance(body, dict) else None
        try:
            return str(uuid.UUID(found if isinstance(found, str) else ""))
        except ValueError:
            raise self._server.failed(
                Cause.GARBLED, "execute", f"the answer has no command id: {str(body)[:200]}"
            ) from None

    async def _stop(self) -> None:
        try:
            path = f"{agent.BASH_COMMANDS}/{self._id}/stop"
            await self._server.ask("stop command", "POST", path, repeatable=True, limit_s=5, expected=frozenset({404}))
        except SandboxError:  # the sandbox is removed anyway, and the event is sent
            return
