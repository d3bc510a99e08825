"""Builds images for clients of OpenHands 1.0: POST /build, then GET /build_status until the build has ended.

Equal requests share one build. An image is visible only when Podman has it complete under its name.
"""

import asyncio
import contextlib
import json
import secrets
import shutil
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import BinaryIO

from starlette.requests import ClientDisconnect, Request

from skyrl_train.contracts.errors import TrainError
from skyrl_train.contracts.sandbox.wire import BuildStatus
from skyrl_train.sandbox.engine import BuildFailedError, BuildLateError, Engine
from skyrl_train.sandbox.runtime.admission import Admission
from skyrl_train.sandbox.runtime.build_form import LARGEST_FORM, BuildForm, read_form
from skyrl_train.sandbox.runtime.database import Database, DatabaseError
from skyrl_train.sandbox.runtime.refusals import RefusedError
from skyrl_train.sandbox.runtime.tasks import Tasks
from skyrl_train.sandbox.runtime.telemetry import Telemetry

_SETTING = "build "
_AT_ONCE, _WAITING = 2, 16
_READ_S = 300.0
_RETRY_S = 30
"""How long clients wait after a 429 anyway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    build_id: str
    image: str
    tags: tuple[str, ...]
    content: str
    status: BuildStatus = BuildStatus.IN_PROGRESS
    error: str = ""
    seconds: float = 0.0

    def to_json(self) -> dict[str, object]:
        saved = {"build_id": self.build_id, "status": self.status.value, "image": self.image}
        return {**saved, "error": self.error} if self.error else dict(saved)


class Builds:
    """The builds of one server. A build that ran when the server was killed is reported as failed by the next one."""

    def __init__(
        self,
        *,
        engine: Engine,
        database: Database,
        admission: Admission,
        tasks: Tasks,
        telemetry: Telemetry,
        directory: Path,
    ) -> None:
        self._engine = engine
        self._database = database
        self._admission = admission
        self._tasks = tasks
        self._telemetry = telemetry
        self._directory = directory
        self._builds: dict[str, Build] = {}
        self._receiving = 0
        self._made: dict[str, str] = {}
        """The build that made the image of each name last."""
        self._slots = asyncio.Semaphore(_AT_ONCE)
        shutil.rmtree(directory, ignore_errors=True)

    async def begin(self, request: Request) -> Build:
        """Raises RefusedError."""
        if self._admission.draining:
            raise RefusedError(503, "the runtime is shutting down because its job ends; no new builds")
        running = sum(build.status is BuildStatus.IN_PROGRESS for build in self._builds.values())
        if running + self._receiving >= _WAITING:
            raise RefusedError(
                429, f"{_WAITING} builds are already running or waiting; try again later", retry_after_s=_RETRY_S
            )
        self._receiving += 1
        try:
            return await self._receive_and_begin(request)
        finally:
            self._receiving -= 1

    async def _receive_and_begin(self, request: Request) -> Build:
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(dir=self._directory))
        with contextlib.ExitStack() as stack:
            stack.callback(shutil.rmtree, place, ignore_errors=True)
            body = place / "form"
            await _receive(request, body)
            form = await asyncio.to_thread(read_form, body, request.headers.get("content-type", ""), place)
            body.unlink()
            known = await self._same(form)
            if known is not None:
                return known
            stack.pop_all()
            return self._begin(form, place)

    def get(self, build_id: str) -> Build:
        known = self._builds.get(build_id) or self._read_saved(build_id)
        if known is None:
            raise RefusedError(404, f"no build {build_id!r:.80}")
        return known

    async def _same(self, form: BuildForm) -> Build | None:
        """An equal build that still has its image or is running. Nothing is awaited afterwards, so no second one can start."""
        of_image = [build for build in self._builds.values() if build.image == form.image]
        for build in of_image:
            if _matches(build, form) and await self._has_image(build):
                return build
        running = [build for build in self._builds.values() if build.status is BuildStatus.IN_PROGRESS]
        for build in running:
            if build.image == form.image and not _matches(build, form):
                raise RefusedError(
                    409, f"{form.image} is already being built from another directory (build {build.build_id})"
                )
            if build.image == form.image:
                return build
        return None

    async def _has_image(self, build: Build) -> bool:
        """Whether its names still mean its image: a later build may have taken one of them."""
        if build.status is not BuildStatus.SUCCESS:
            return False
        if any(self._made.get(name) != build.build_id for name in (build.image, *build.tags)):
            return False
        return await self._engine.image(build.image) is not None

    def _begin(self, form: BuildForm, place: Path) -> Build:
        build = Build(build_id=secrets.token_hex(8), image=form.image, tags=form.tags, content=form.content)
        self._keep(build)
        self._telemetry.events.add("build", build_id=build.build_id, image=build.image)
        self._tasks.start(self._run(build, form, place), f"build {build.build_id}")
        return build

    async def _run(self, build: Build, form: BuildForm, place: Path) -> None:
        began, status, error = time.monotonic(), BuildStatus.CANCELLED, "the runtime stopped because its job ended"
        try:
            async with self._slots:
                began = time.monotonic()
                await self._engine.build_from(form.directory, form.recipe, (form.image, *form.tags))
            status, error = BuildStatus.SUCCESS, ""
            self._made |= dict.fromkeys((form.image, *form.tags), build.build_id)
        except BuildLateError as late:
            status, error = BuildStatus.TIMEOUT, f"{late}\n{late.log}"
        except BuildFailedError as failed:
            status, error = BuildStatus.FAILURE, f"{failed}\n{failed.log}"
        except (TrainError, OSError) as unable:
            status, error = BuildStatus.INTERNAL_ERROR, str(unable)
        finally:
            seconds = round(time.monotonic() - began, 3)
            self._keep(replace(build, status=status, error=error, seconds=seconds))
            first = error.partition("\n")[0]
            outcome = {"image": build.image, "status": status.value, "seconds": seconds, "why": first}
            self._telemetry.events.add("build ended", build_id=build.build_id, **outcome)
            self._telemetry.metrics.builds.labels("failed" if error else "built").inc()
            self._telemetry.metrics.build_seconds.inc(seconds)
            shutil.rmtree(place, ignore_errors=True)

    def _keep(self, build: Build) -> None:
        self._builds[build.build_id] = build
        with contextlib.suppress(DatabaseError):
            self._database.set(_SETTING + build.build_id, json.dumps(asdict(build)))

    def _read_saved(self, build_id: str) -> Build | None:
        text = self._database.setting(_SETTING + build_id)
        if text is None:
            return None
        saved = json.loads(text)
        build = Build(**{**saved, "tags": tuple(saved["tags"]), "status": BuildStatus(saved["status"])})
        if build.status is not BuildStatus.IN_PROGRESS:
            return build
        error = "the runtime was killed during the build; start it again"
        return replace(build, status=BuildStatus.INTERNAL_ERROR, error=error)


def _matches(build: Build, form: BuildForm) -> bool:
    return (build.image, build.content, set(build.tags)) == (form.image, form.content, set(form.tags))


async def _receive(request: Request, target: Path) -> None:
    """Writes the form to disk in pieces: it may be larger than the server's memory."""
    try:
        with open(target, "wb") as file:
            await asyncio.wait_for(_write(request, file), _READ_S)
    except TimeoutError as error:
        raise RefusedError(408, f"the form was not complete after {_READ_S:g} s") from error
    except ClientDisconnect as error:
        raise RefusedError(400, "the client disconnected before its request was complete") from error
    except OSError as error:
        raise RefusedError(507, f"the form cannot be saved: {error.strerror}") from error


async def _write(request: Request, file: BinaryIO) -> None:
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > LARGEST_FORM:
            raise RefusedError(413, f"the form is larger than the limit of {LARGEST_FORM >> 20} MiB")
        file.write(part)
