"""Which request is answered by what. Paths, statuses and JSON are those of openhands-agent-server."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Callable

from skyrl_train.contracts import sandboxd_api
from skyrl_train.sandbox.sandboxd import files, git, responses
from skyrl_train.sandbox.sandboxd.children import Children
from skyrl_train.sandbox.sandboxd.commands import Commands
from skyrl_train.sandbox.sandboxd.http import HttpError, Request
from skyrl_train.sandbox.sandboxd.request_fields import (
    absolute_path,
    command_request,
    identifier,
    query,
    search_request,
)

VERSION = "0.1.0"
SPEAKS = "1.58.0"
"""The newest openhands-agent-server that these routes were compared with."""
_OPEN = (sandboxd_api.ALIVE, sandboxd_api.HEALTH, sandboxd_api.READY, sandboxd_api.SERVER_INFO, "/")


class Routes:
    """The table of routes, and what answers them."""

    def __init__(self, commands: Commands, children: Children, *, env: dict[str, str]) -> None:
        self._commands = commands
        self._children = children
        self._env = env
        self._born = self._busy = time.monotonic()
        self._exact: dict[str, dict[str, Callable[[Request], object]]] = {
            sandboxd_api.ALIVE: {"GET": _ok},
            sandboxd_api.HEALTH: {"GET": _ok},
            sandboxd_api.READY: {"GET": _ready},
            sandboxd_api.SERVER_INFO: {"GET": self._info},
            "/": {"GET": self._info},
            sandboxd_api.BASH_START: {"POST": lambda request: commands.start(*command_request(request))},
            sandboxd_api.BASH_EXECUTE: {"POST": lambda request: commands.execute(*command_request(request))},
            sandboxd_api.BASH_SEARCH: {"GET": lambda request: commands.events.search(search_request(request))},
            sandboxd_api.BASH_EVENTS: {"DELETE": lambda _: {"cleared_count": commands.events.clear()}},
            f"{sandboxd_api.BASH_EVENTS}/": {"GET": _no_batches},
            sandboxd_api.FILE_UPLOAD: {"POST": lambda request: files.upload(request, query(request, "path"))},
            sandboxd_api.FILE_DOWNLOAD: {"GET": lambda request: Download(query(request, "path"))},
            sandboxd_api.FILE_CREATE_DIRECTORY: {
                "POST": lambda request: files.create_directory(query(request, "path"))
            },
            sandboxd_api.GIT_CHANGES: {"GET": lambda request: self._changes(request, query(request, "path"))},
            sandboxd_api.GIT_DIFF: {"GET": lambda request: self._diff(request, query(request, "path"))},
        }
        self._below: dict[str, dict[str, Callable[[Request, str], object]]] = {  # FIX(RUN009)
            f"{sandboxd_api.FILE_UPLOAD}/": {"POST": files.upload},
            f"{sandboxd_api.FILE_DOWNLOAD}/": {"GET": lambda _, path: Download(path)},
            f"{sandboxd_api.GIT_CHANGES}/": {"GET": self._changes},
            f"{sandboxd_api.GIT_DIFF}/": {"GET": self._diff},
            f"{sandboxd_api.BASH_EVENTS}/": {"GET": self._event},
            f"{sandboxd_api.BASH_COMMANDS}/": {"POST": self._stop},
        }

    def find(self, request: Request) -> Callable[[Request], object]:
        methods = self._exact.get(request.path)
        if methods is not None:
            return _allowed(methods, request)
        for prefix, below in self._below.items():
            if request.path.startswith(prefix):
                answer, rest = _allowed(below, request), request.path[len(prefix) :]
                return lambda request: answer(request, rest)
        raise HttpError(404, "Not Found")

    def needs_key(self, request: Request) -> bool:
        return request.path not in _OPEN

    def touch(self) -> None:
        self._busy = time.monotonic()

    def _info(self, _: Request) -> object:
        now = time.monotonic()
        return {
            "uptime": float(int(now - self._born)),
            "idle_time": float(int(now - self._busy)),
            "title": "sandboxd",
            "version": SPEAKS,
            "sdk_version": SPEAKS,
            "tools_version": SPEAKS,
            "workspace_version": SPEAKS,
            "build_git_sha": "unknown",
            "build_git_ref": "unknown",
            "python_version": sys.version,
            "usable_tools": [],
            "runtime_idle_timeout_seconds": None,
            "conversation_runtime": "local",
            "available_conversation_runtimes": [],
            "capabilities": [],
            "app_backend_ingress_url": None,
            "max_foreground_terminal_timeout_seconds": None,
            "docs": "/docs",
            "redoc": "/redoc",
            "sandboxd_version": VERSION,
        }

    def _event(self, _: Request, event_id: str) -> object:
        event = self._commands.events.get(event_id)
        if event is None:
            raise HttpError(404, "Not Found")
        return event

    def _stop(self, _: Request, rest: str) -> object:
        command_id, slash, verb = rest.partition("/")
        if not slash or verb != "stop":
            raise HttpError(404, "Not Found")
        if not self._commands.stop(identifier(command_id, "path", "command_id")):
            raise HttpError(404, "Not Found")
        return {"success": True}

    def _git(self, directory: str) -> git.Git:
        return git.Git(self._children, self._env, directory)

    def _changes(self, request: Request, path: str) -> object:
        try:
            return git.changes(self._git(_rooted(path)), request.query.get("ref"))
        except git.GitError as error:
            raise HttpError(400, str(error)) from None

    def _diff(self, request: Request, path: str) -> object:
        if "commit" in request.query:
            raise HttpError(501, "sandboxd offers no diff of a single commit: ask with 'ref', or run git")
        try:
            return git.diff(self._git("/"), _rooted(path), request.query.get("ref"))
        except git.NoRepositoryError:
            return {"modified": None, "original": None}
        except (git.GitError, OSError) as error:
            raise HttpError(400, str(error)) from None


class Download:
    """A file on its way; opened at once, so that a refusal comes before any byte."""

    def __init__(self, path: str) -> None:
        self._file, self._headers = files.open_for_download(path)

    def send(self, connection: socket.socket, *, close: bool) -> bool:
        try:
            return responses.send_file(connection, self._file, self._headers, close=close)
        finally:
            os.close(self._file)


def _allowed(methods: dict[str, Callable[..., object]], request: Request) -> Callable[..., object]:
    if request.method not in methods:
        raise HttpError(405, "Method Not Allowed", allow=", ".join(methods))
    return methods[request.method]


def _rooted(path: str) -> str:
    """Clients of 1.8.2 join a path to the route, and a path library then takes one of two slashes away."""
    return absolute_path(path if path.startswith("/") else f"/{path}")


def _ok(_: Request) -> object:
    return {"status": "ok"}


def _ready(_: Request) -> object:
    return {"status": "ready"}


def _no_batches(_: Request) -> object:
    raise HttpError(501, f"sandboxd does not hand out events in batches: use {sandboxd_api.BASH_SEARCH}")
