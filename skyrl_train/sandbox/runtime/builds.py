"""Images that clients of OpenHands 1.0 have built: POST /build, then GET /build_status until it is over.

One build for all who ask for the same; nothing is given out before Podman has the whole image under its name.
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
from skyrl_train.sandbox.runtime.admission import Admission
from skyrl_train.sandbox.runtime.build_form import LARGEST_FORM, BuildForm, read_form
from skyrl_train.sandbox.runtime.database import Database, DatabaseError
from skyrl_train.sandbox.runtime.engine import BuildFailedError, BuildLateError, Engine
from skyrl_train.sandbox.runtime.refusals import RefusedError
from skyrl_train.sandbox.runtime.tasks import Tasks
from skyrl_train.sandbox.runtime.telemetry import Telemetry

_SETTING = "build "
_AT_ONCE, _WAITING = 2, 16
_READ_S = 300.0
_RETRY_S = 30
"""What clients wait by themselves after a 429."""


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
        said = {"build_id": self.build_id, "status": self.status.value, "image": self.image}
        return {**said, "error": self.error} if self.error else dict(said)


class Builds:
    """One server's. What ran when it was killed has failed for whoever asks the next one."""

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
        self._slots = asyncio.Semaphore(_AT_ONCE)
        shutil.rmtree(directory, ignore_errors=True)

    async def begin(self, request: Request) -> Build:
        """Raises RefusedError."""
        if self._admission.draining:
            raise RefusedError(503, "this runtime is shutting down: its job ends; nothing is built any more")
        if sum(build.status is BuildStatus.IN_PROGRESS for build in self._builds.values()) >= _WAITING:
            raise RefusedError(429, f"{_WAITING} builds run or wait already", retry_after_s=_RETRY_S)
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(dir=self._directory))
        with contextlib.ExitStack() as stack:
            stack.callback(shutil.rmtree, place, ignore_errors=True)
            body = place / "form"
            await _received(request, body)
            form = await asyncio.to_thread(read_form, body, request.headers.get("content-type", ""), place)
            body.unlink()
            known = await self._same(form)
            if known is not None:
                return known
            stack.pop_all()
            return self._begun(form, place)

    def get(self, build_id: str) -> Build:
        known = self._builds.get(build_id) or self._earlier(build_id)
        if known is None:
            raise RefusedError(404, f"no build {build_id!r:.80}")
        return known

    async def _same(self, form: BuildForm) -> Build | None:
        """One that has built the same, if the image is still there, or builds it now. Nothing is awaited after that."""
        of_image = [build for build in self._builds.values() if build.image == form.image]
        for build in of_image:
            if _is_for(build, form) and await self._there(build):
                return build
        running = [build for build in self._builds.values() if build.status is BuildStatus.IN_PROGRESS]
        for build in running:
            if build.image == form.image and not _is_for(build, form):
                raise RefusedError(409, f"{form.image} is being built out of another directory, as {build.build_id}")
            if build.image == form.image:
                return build
        return None

    async def _there(self, build: Build) -> bool:
        return build.status is BuildStatus.SUCCESS and await self._engine.image(build.image) is not None

    def _begun(self, form: BuildForm, place: Path) -> Build:
        build = Build(build_id=secrets.token_hex(8), image=form.image, tags=form.tags, content=form.content)
        self._keep(build)
        self._telemetry.events.add("build", build_id=build.build_id, image=build.image)
        self._tasks.start(self._run(build, form, place), f"build {build.build_id}")
        return build

    async def _run(self, build: Build, form: BuildForm, place: Path) -> None:
        began, status, error = time.monotonic(), BuildStatus.CANCELLED, "the runtime ended: its job is over"
        try:
            async with self._slots:
                began = time.monotonic()
                await self._engine.build_from(form.directory, form.recipe, (form.image, *form.tags))
            status, error = BuildStatus.SUCCESS, ""
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
            told = {"image": build.image, "status": status.value, "seconds": seconds, "why": first}
            self._telemetry.events.add("build ended", build_id=build.build_id, **told)
            self._telemetry.metrics.builds.labels("failed" if error else "built").inc()
            self._telemetry.metrics.build_seconds.inc(seconds)
            shutil.rmtree(place, ignore_errors=True)

    def _keep(self, build: Build) -> None:
        self._builds[build.build_id] = build
        with contextlib.suppress(DatabaseError):
            self._database.set(_SETTING + build.build_id, json.dumps(asdict(build)))

    def _earlier(self, build_id: str) -> Build | None:
        text = self._database.setting(_SETTING + build_id)
        if text is None:
            return None
        said = json.loads(text)
        build = Build(**{**said, "tags": tuple(said["tags"]), "status": BuildStatus(said["status"])})
        if build.status is not BuildStatus.IN_PROGRESS:
            return build
        error = "the runtime was killed while it built; ask for it again"
        return replace(build, status=BuildStatus.INTERNAL_ERROR, error=error)


def _is_for(build: Build, form: BuildForm) -> bool:
    return (build.image, build.content, set(build.tags)) == (form.image, form.content, set(form.tags))


async def _received(request: Request, target: Path) -> None:
    """Onto the disk, piece by piece: a directory may be as large as a disk, and this server's memory is not."""
    try:
        with open(target, "wb") as file:
            await asyncio.wait_for(_written(request, file), _READ_S)
    except TimeoutError as error:
        raise RefusedError(408, f"the form did not come within {_READ_S:g} s") from error
    except ClientDisconnect as error:
        raise RefusedError(400, "the client went away before its request was whole") from error
    except OSError as error:
        raise RefusedError(507, f"the form cannot be kept: {error.strerror}") from error


async def _written(request: Request, file: BinaryIO) -> None:
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > LARGEST_FORM:
            raise RefusedError(413, f"the form is larger than {LARGEST_FORM >> 20} MiB")
        file.write(part)
