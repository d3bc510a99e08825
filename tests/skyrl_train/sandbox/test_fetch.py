"""IMG005: from an archive, a mirror or a registry into the store, and derived images."""

import json
from pathlib import Path

import pytest

from fakes.podman_cli import FakePodman
from skyrl_train.contracts.errors import TrainError
from skyrl_train.contracts.sandbox.references import parse_reference
from skyrl_train.sandbox.derive import BuildOptions
from skyrl_train.sandbox.fetch import Fetched, Fetcher, Step, Store, Ways, parse_names

IMAGE = "docker.io/a/bc:1"
REFERENCE = parse_reference(IMAGE)


def fetched(podman: FakePodman, ways: Ways | None = None, *, reference: str = IMAGE) -> tuple[Fetched, list[float]]:
    """The result, and the waits between its tries."""
    waits: list[float] = []
    fetcher = Fetcher(podman, ways or Ways(), wait=waits.append, clock=lambda: 0.0)
    return fetcher.fetch(parse_reference(reference)), waits


def test_what_is_here_is_left_alone() -> None:
    podman = FakePodman(store={IMAGE})
    assert fetched(podman) == (Fetched(image=IMAGE, step=Step.PRESENT, seconds=0.0), [])
    assert podman.asked == [f"image exists {IMAGE}"]


def test_pulls_from_the_registry() -> None:
    podman = FakePodman(remote={IMAGE})
    assert fetched(podman) == (Fetched(image=IMAGE, step=Step.PULL, seconds=0.0), [])
    assert podman.store == {IMAGE}


def test_tries_again_with_longer_waits_where_the_registry_limits() -> None:
    podman = FakePodman(remote={IMAGE}, faults={"pull": ["toomanyrequests: pull rate limit", "connection reset"]})
    found, waits = fetched(podman)
    assert (found, waits) == (Fetched(image=IMAGE, step=Step.PULL, seconds=0.0, tries=3), [30.0, 2.0])


def test_gives_up_after_its_tries() -> None:
    podman = FakePodman(remote={IMAGE}, faults={"pull": ["connection reset"] * 9})
    found, waits = fetched(podman, Ways(tries=2))
    assert (found.detail, found.tries, waits) == ("podman pull: connection reset", 2, [1.0])


def test_does_not_ask_again_for_what_is_not_there() -> None:
    found, waits = fetched(FakePodman())
    assert (found.detail, found.tries, waits) == ("podman pull: Error: manifest unknown", 1, [])


@pytest.mark.parametrize("held", [IMAGE, "localhost/other:name"])
def test_loads_an_archive_and_gives_it_the_name(tmp_path: Path, held: str) -> None:
    archive = tmp_path / "docker.io_a_bc_1.tar"
    archive.touch()
    podman = FakePodman(archives={str(archive): [held]}, remote={IMAGE})
    found, _ = fetched(podman, Ways(archive=str(tmp_path)))
    assert found == Fetched(image=IMAGE, step=Step.LOAD, seconds=0.0)
    assert IMAGE in podman.store
    assert not any(line.startswith("pull") for line in podman.asked)


def test_an_archive_of_several_others_is_told(tmp_path: Path) -> None:
    (tmp_path / "docker.io_a_bc_1.tar").touch()
    podman = FakePodman(archives={f"{tmp_path}/docker.io_a_bc_1.tar": ["x:1", "y:2"]})
    found, _ = fetched(podman, Ways(archive=str(tmp_path), tries=1))
    assert found.detail == f"{tmp_path}/docker.io_a_bc_1.tar holds x:1, y:2; wanted {IMAGE}"


def test_an_archive_directory_stands_instead_of_the_registry(tmp_path: Path) -> None:
    podman = FakePodman(remote={IMAGE})
    found, _ = fetched(podman, Ways(archive=str(tmp_path)))
    assert found.detail == f"not in the store, and {tmp_path} holds no archive of it"


def test_a_mirror_stands_in_the_registrys_place() -> None:
    podman = FakePodman(remote={"localhost:5000/hub/a/bc:1"})
    found, _ = fetched(podman, Ways(mirror="localhost:5000/hub/"))
    assert (found.ok, podman.store) == (True, {IMAGE})
    assert "pull --quiet --tls-verify=false localhost:5000/hub/a/bc:1" in podman.asked


def test_a_digest_from_a_mirror_is_refused() -> None:
    found, _ = fetched(FakePodman(), Ways(mirror="m.site", tries=1), reference=f"a/bc@sha256:{'ab' * 32}")
    assert found.detail.startswith("a name by digest cannot be given to what a mirror holds")


def test_builds_once() -> None:
    podman = FakePodman(store={IMAGE})
    ways = Ways(build=BuildOptions(sdk_version="1.58.0"))
    found, _ = fetched(podman, ways)
    assert (found.step, found.ok) == (Step.BUILD, True)
    assert found.derived in podman.store
    assert podman.recipes[0].startswith(
        "FROM ghcr.io/openhands/agent-server:1.58.0-python AS server\nFROM docker.io/a/bc:1\n"
    )
    again, _ = fetched(podman, ways)
    assert (again.step, again.derived) == (Step.PRESENT, found.derived)
    assert len(podman.recipes) == 1


def test_another_version_or_target_is_another_image() -> None:
    podman = FakePodman(store={IMAGE})
    options = [
        BuildOptions(sdk_version="1.58.0"),
        BuildOptions(sdk_version="1.58.2"),
        BuildOptions(sdk_version="1.58.0", target="source"),
    ]
    derived = {fetched(podman, Ways(build=option))[0].derived for option in options}
    assert len(derived) == 3


def test_a_build_that_fails_is_told() -> None:
    podman = FakePodman(store={IMAGE}, faults={"build": ["no space left on device"]})
    found, _ = fetched(podman, Ways(build=BuildOptions(sdk_version="1.58.0")))
    assert found.detail == "podman build: no space left on device"


def test_results_as_lines() -> None:
    found = Fetched(image=IMAGE, step=Step.BUILD, seconds=1.23456, derived="d", detail="why", tries=2)
    assert json.loads(found.to_json(5.0)) == {
        "at": 5.0,
        "image": IMAGE,
        "step": "build",
        "ok": False,
        "seconds": 1.235,
        "tries": 2,
        "derived": "d",
        "detail": "why",
    }


def test_the_names_of_a_store() -> None:
    assert parse_names('[{"Names": ["a", "b"]}, {"Names": null}, {}]') == frozenset({"a", "b"})
    assert parse_names("null") == parse_names("") == frozenset()
    with pytest.raises(TrainError, match="the answer of podman images is not JSON"):
        parse_names("<")


def test_a_store_that_does_not_answer_is_told() -> None:
    podman = FakePodman(faults={"images": ["layer not known"]})
    with pytest.raises(TrainError, match=r"^podman images: layer not known; see skyrl-doctor preflight"):
        Store(podman).names()
