"""Images for sessions: fetched once for all who wait, built into once, and why not where they cannot be had."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from fakes.engine import IMAGE
from fakes.podman_cli import FakePodman
from fakes.runtime import asynchronous, serving
from skyrl_train.sandbox.derive import BuildOptions
from skyrl_train.sandbox.fetch import Ways
from skyrl_train.sandbox.inject import ImageFacts, InjectionError
from skyrl_train.sandbox.runtime.engine import BuildFailedError, ImageAbsentError
from skyrl_train.sandbox.runtime.podman.image_supply import ImageSupply
from skyrl_train.sandbox.runtime.podman.previous_server import MARK

ABSENT = "docker.io/a/bc:1"


@asynchronous
async def test_an_absent_image_is_fetched_and_the_events_say_so(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        server.engine.registry.add(ABSENT)
        begun = await server.start("s1", image=ABSENT)
        assert (begun["pod_status"], begun["events"]) == ("ready", [f"fetching {ABSENT}", "ready"])
        assert server.engine.standing[begun["runtime_id"]].spec.image == ABSENT


@asynchronous
async def test_always_fetches_again_and_never_does_not(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        server.engine.registry.add(IMAGE)
        await server.start("s1", image_pull_policy="Always")
        assert f"fetch again {IMAGE}" in server.engine.calls
        failed = await server.start("s2", image=ABSENT, image_pull_policy="Never")
        assert failed["pod_logs"].startswith(f"image {ABSENT} is not in the store, and image_pull_policy is Never")


@asynchronous
async def test_a_session_starts_from_the_derived_image(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        server.runtime.images.derive = lambda _facts: f"{IMAGE}-derived"
        first, second = await server.start("s1"), await server.start("s2")
        images = [server.engine.standing[each["runtime_id"]].spec.image for each in (first, second)]
        assert images == [f"{IMAGE}-derived"] * 2
        assert server.engine.calls.count(f"build {IMAGE}") == 1
        assert first["events"] == [f"building the agent server into {IMAGE}", "ready"]


@asynchronous
async def test_a_failed_build_is_told_with_its_last_lines(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        server.runtime.images.derive = lambda _facts: "localhost/derived:1"
        server.engine.fail["build"] = [BuildFailedError("podman build: exit status 1", "STEP 2\nno such file")]
        failed = await server.start("s1")
        assert failed["pod_status"] == "failed"
        assert failed["pod_logs"] == "podman build: exit status 1\nSTEP 2\nno such file"


@asynchronous
async def test_an_image_that_cannot_be_derived_is_refused_before_a_build(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:

        def refuse(_facts: ImageFacts) -> str:
            raise InjectionError("IMG008: too old")

        server.runtime.images.derive = refuse
        assert (await server.start("s1"))["pod_logs"].startswith("IMG008: too old")
        assert "build" not in " ".join(server.engine.calls)


class Told(list[tuple[str, dict[str, Any]]]):
    def __call__(self, event: str, **data: object) -> None:
        self.append((event, {name: value for name, value in data.items() if value is not None and name != "seconds"}))


def supplied(told: Told, ways: Ways, run_dir: str = "/run/x", **store: Any) -> tuple[ImageSupply, FakePodman]:
    supply = ImageSupply({}, ways, prefix="docker.io/", run_dir=run_dir, told=told)
    assert supply.podman.environ == {MARK: run_dir}
    podman = FakePodman(**store)
    supply.podman = podman
    return supply, podman


@asynchronous
async def test_however_many_wait_for_an_image_it_is_fetched_once() -> None:
    told = Told()
    supply, podman = supplied(told, Ways(), remote={ABSENT})
    names = await asyncio.gather(*(supply.fetch("a/bc:1") for _ in range(10)))
    assert set(names) == {ABSENT}
    assert [words for words in podman.asked if words.startswith("pull")] == [f"pull --quiet {ABSENT}"]
    assert told == [("image pulling", {"image": ABSENT}), ("image pulled", {"image": ABSENT, "derived": ""})]
    await supply.close()


@asynchronous
async def test_who_gives_up_leaves_the_others_theirs() -> None:
    supply, _ = supplied(Told(), Ways(), remote={ABSENT})
    waiting = [asyncio.create_task(supply.fetch(ABSENT)) for _ in range(2)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    assert await waiting[1] == ABSENT
    await supply.close()


@asynchronous
async def test_an_archive_serves_a_session_and_nothing_is_pulled(tmp_path: Path) -> None:
    (tmp_path / "docker.io_a_bc_1.tar").touch()
    told = Told()
    supply, podman = supplied(
        told, Ways(archive=str(tmp_path)), archives={f"{tmp_path}/docker.io_a_bc_1.tar": [ABSENT]}, remote={"x"}
    )
    assert await supply.fetch("a/bc:1") == ABSENT
    with pytest.raises(ImageAbsentError, match=r"image a/other:1 cannot be had: not in the store, and .* no archive"):
        await supply.fetch("a/other:1")
    assert not [words for words in podman.asked if words.startswith("pull")]
    assert [event for event, _ in told] == ["image loading", "image loaded", "image failed"]
    await supply.close()


@asynchronous
async def test_a_build_is_shared_and_its_failure_brings_its_log(tmp_path: Path) -> None:
    ways = Ways(build=BuildOptions(sdk_version="1.58.0"))
    supply, podman = supplied(Told(), ways, str(tmp_path), store={ABSENT})
    await asyncio.gather(*(supply.build(ABSENT) for _ in range(5)))
    assert len(podman.recipes) == 1
    build = next(words for words in podman.asked if words.startswith("build"))
    assert f"--file {tmp_path}/" in build  # beside the store, where a kill leaves nothing for ever
    podman.store = {ABSENT}
    podman.faults["build"] = ["STEP 1\nCOPY: no such file"]
    with pytest.raises(BuildFailedError, match=f"could not be built into {ABSENT}: podman build") as failed:
        await supply.build(ABSENT)
    assert failed.value.log == "STEP 1\nCOPY: no such file"
    await supply.close()
