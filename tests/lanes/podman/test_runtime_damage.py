"""A store that an earlier server of the job left damaged: set aside with the reason, never repaired, and all goes on."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lanes.podman.conftest import NewLab
from lanes.podman.lab import Lab
from lanes.podman.runtime import Server, say, start
from lanes.podman.test_damage import cut, database, top_layer
from lanes.podman.test_held_locks import hold

pytestmark = pytest.mark.podman
Break = Callable[[Lab], object]


def slurm_ends_the_job(store: Lab) -> None:
    store.detached("rollout")
    store.kill_all(reaped=True)


def its_pid_is_another_ones_now(store: Lab) -> None:
    store.kill_all()
    stranger = store.start(["sleep", "300"])
    store.ends.append(lambda: (stranger.kill(), stranger.wait()))
    store.pause_file.write_text(str(stranger.pid))


def layers(store: Lab) -> Path:
    return store.graph / "overlay-layers" / "layers.json"


BREAKS: dict[str, tuple[str, Break]] = {
    "the pause process is dead": ("POD001", slurm_ends_the_job),
    "the pause process is a stranger": ("POD001", its_pid_is_another_ones_now),
    "the database is cut off": ("POD006", lambda store: cut(database(store), 8192)),
    "the database is garbage": ("POD006", lambda store: database(store).write_bytes(b"\xa5" * 32768)),
    "layers.json is cut off": ("POD006", lambda store: cut(layers(store), 60)),
    "a layer is gone": ("POD006", lambda store: shutil.rmtree(store.graph / "overlay" / top_layer(store))),
    "the store is locked": ("POD007", lambda store: hold(store, "graph/storage.lock")),
}


@pytest.fixture
def server(new_lab: NewLab, image_archive: Path) -> Iterator[Server]:
    lab = new_lab()
    server = Server(lab).stock(image_archive)
    yield server
    server.close()
    lab.close()


def store_of(server: Server) -> Lab:
    home = server.home()
    return Lab(Path(home.store), server.lab.user, home.environ, server.lab.ends)


@pytest.mark.parametrize("what", BREAKS)
def test_a_damaged_store_is_set_aside_and_another_one_serves(server: Server, image_archive: Path, what: str) -> None:
    check_id, break_it = BREAKS[what]
    store = store_of(server)
    break_it(store)
    before = content(store.graph)
    client = server.up().client()
    (told,) = [entry for entry in client.get("/events").json()["events"] if entry["event"] == "store set aside"]
    assert (told["store"], told["why"][:6]) == (str(store.base), check_id)
    second = f"{store.base.parent}-2/podman"
    if check_id != "POD001":  # whose images are whole, and are read where they are
        lab = replace(server.lab, env={**server.home().environ, **environ_of(second)})
        assert lab.podman("load", "-q", "-i", str(image_archive)).returncode == 0
    begun = start(client, "s1")
    assert begun["pod_status"] == "ready", begun["pod_logs"]
    assert say(begun, "echo here")["stdout"] == "here\n"
    assert content(store.graph) == before
    assert server.end() == 0


def environ_of(store: str) -> dict[str, str]:
    return {
        "XDG_RUNTIME_DIR": f"{store}/run",
        "XDG_DATA_HOME": f"{store}/data",
        "XDG_CONFIG_HOME": f"{store}/config",
        "CONTAINERS_CONF": f"{store}/containers.conf",
        "CONTAINERS_STORAGE_CONF": f"{store}/storage.conf",
    }


def content(graph: Path) -> dict[str, bytes]:
    """The books and the database, byte for byte."""
    names = ("overlay-layers/layers.json", "overlay-images/images.json", "libpod/bolt_state.db", "db.sql")
    return {name: (graph / name).read_bytes() for name in names if (graph / name).exists()}


def test_sessions_of_a_store_that_is_set_aside_fail_with_the_reason(server: Server) -> None:
    client = server.up().client()
    begun = start(client, "s1")
    server.kill()
    store = store_of(server)
    store.kill_all(reaped=True)
    told = server.up().client().get("/sessions/s1").json()
    assert (told["status"], told["pod_status"]) == ("stopped", "failed")
    assert told["pod_logs"].startswith(f"its container was in {store.base}, which was set aside")
    assert told["runtime_id"] == begun["runtime_id"]
