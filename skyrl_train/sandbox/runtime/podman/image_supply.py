"""Fetches images for sessions as `skyrl-train images` does: from archive, mirror or registry; then builds in the agent
server. An image is fetched once for all sessions that wait for it; one that stops waiting does not affect the others.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from skyrl_train.contracts import bounded
from skyrl_train.contracts.errors import TrainError
from skyrl_train.contracts.sandbox.references import parse_reference
from skyrl_train.sandbox.derive import bases_of
from skyrl_train.sandbox.engine import BuildFailedError, BuildLateError, ImageAbsentError
from skyrl_train.sandbox.fetch import Fetched, Fetcher, ImageSources, Step
from skyrl_train.sandbox.podman_cli import PodmanCli
from skyrl_train.sandbox.runtime.podman.previous_server import MARK

_BEGUN = {Step.LOAD: "image loading", Step.PULL: "image pulling", Step.BUILD: "image building"}
_DONE = {Step.LOAD: "image loaded", Step.PULL: "image pulled", Step.BUILD: "image built"}
_AT_ONCE = 2


class ImageSupply:
    """The images of one store. `add_event` gets every step with its duration."""

    def __init__(
        self,
        environ: Mapping[str, str],
        ways: ImageSources,
        *,
        prefix: str,
        network: bool = False,
        run_dir: str,
        add_event: Callable[..., None],
    ) -> None:
        self.podman = PodmanCli(environ={**environ, MARK: run_dir})
        self.ways = replace(ways, scratch=run_dir)  # a kill leaves them where the job's sweep finds them
        self._prefix = prefix
        self._network = network
        self._add_event = add_event
        self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="image")
        self._running: dict[tuple[str, bool], asyncio.Task[Fetched]] = {}

    async def fetch(self, image: str, *, again: bool = False) -> str:
        """Returns the image's name in the store. Raises ImageAbsentError with the reason."""
        found = await self._once(image, build=False, again=again)
        if not found.ok:
            raise ImageAbsentError(f"image {image} is not available: {found.detail}")
        return found.image

    async def build(self, image: str) -> None:
        """Builds the derived image. Raises BuildFailedError with the end of the build's output."""
        found = await self._once(image, build=True, again=False)
        if not found.ok:
            raise BuildFailedError(f"the agent server could not be built into {image}: {found.detail}", found.log)

    async def build_from(self, directory: str, recipe: str, names: Sequence[str]) -> None:
        """Fetches base images as for sessions, then builds. Raises BuildFailedError."""
        text = bounded.read_text(Path(directory, recipe), errors="replace")
        for base in bases_of(text):
            try:
                await self.fetch(base)
            except ImageAbsentError as error:
                raise BuildFailedError(str(error)) from error
        tags = [word for name in names for word in ("--tag", str(parse_reference(name, prefix=self._prefix)))]
        network = () if self._network else ("--network=none",)
        words = ("build", "--force-rm", "--layers=false", "--pull=never", *network, *tags)
        argv = (*words, "--file", f"{directory}/{recipe}", directory)
        done = await asyncio.to_thread(lambda: self.podman.run(*argv, limit_s=self.ways.limit_s))
        if done.rc is None:
            raise BuildLateError(f"podman build: {done.why}", done.log)
        if not done.ok:
            raise BuildFailedError(f"podman build exited with status {done.rc}", done.log)

    async def _once(self, image: str, *, build: bool, again: bool) -> Fetched:
        key = (image, build)
        task = self._running.get(key)
        if task is None:
            task = self._running[key] = asyncio.get_running_loop().create_task(self._fetched(image, build, again))
            task.add_done_callback(lambda _done: self._running.pop(key, None))
        return await asyncio.shield(task)

    async def _fetched(self, image: str, build: bool, again: bool) -> Fetched:  # noqa: FBT001 -- as a task takes them
        loop = asyncio.get_running_loop()
        ways = self.ways if build else replace(self.ways, build=None)

        def on_step(name: str, step: Step) -> None:
            loop.call_soon_threadsafe(lambda: self._add_event(_BEGUN[step], image=name))

        def work() -> Fetched:
            fetcher = Fetcher(self.podman, ways, wait=self.podman.ending.wait, on_step=on_step)
            return fetcher.fetch(parse_reference(image, prefix=self._prefix), again=again)

        try:
            found = await loop.run_in_executor(self._pool, work)
        except (TrainError, OSError) as error:
            step = Step.BUILD if build else Step.PULL
            found = Fetched(image=image, step=step, seconds=0.0, detail=str(error))
        self._tell(found)
        return found

    def _tell(self, found: Fetched) -> None:
        seconds = round(found.seconds, 3)
        if not found.ok:
            self._add_event("image failed", image=found.image, step=found.step.value, seconds=seconds, why=found.detail)
        elif found.step is not Step.PRESENT:
            tries = None if found.tries == 1 else found.tries
            self._add_event(_DONE[found.step], image=found.image, seconds=seconds, derived=found.derived, tries=tries)

    async def close(self) -> None:
        await asyncio.to_thread(self.podman.end_all)
        await asyncio.gather(*self._running.values(), return_exceptions=True)
        self._pool.shutdown(wait=False, cancel_futures=True)
