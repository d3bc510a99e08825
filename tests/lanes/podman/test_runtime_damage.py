"""A store that an earlier server of the job left damaged: set aside with the reason, never repaired, and all goes on."""

import shlex
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lanes.podman.conftest import NewLab
from lanes.podman.lab import Lab, wait_until
from lanes.podman.runtime import Server, say, start
from lanes.podman.test_damage import cut, database, top_layer
from lanes.podman.test_held_locks import hold
from lanes.podman.test_node import bare  # noqa: F401 -- a fixture

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


RECORDING = """#!/bin/sh
echo "$@" >> {record}
case " $* " in *" migrate "*|*" reset "*|*" renumber "*) exit 97;; esac
exec {podman} "$@"
"""


def recording(lab: Lab) -> Lab:
    """Its podman writes down what it is told, and repairs nothing."""
    directory, record = lab.base / "recording", lab.base / "record"
    directory.mkdir(mode=0o755)
    record.touch(mode=0o666)
    record.chmod(0o666)
    podman = shlex.quote(shutil.which("podman") or "")
    (directory / "podman").write_text(RECORDING.format(record=record, podman=podman))
    (directory / "podman").chmod(0o755)
    return lab.but(PATH=f"{directory}:{lab.env['PATH']}")


def repaired(lab: Lab) -> set[str]:
    words = {word for line in (lab.base / "record").read_text().splitlines() for word in line.split()}
    assert words & {"service", "--version"}, words  # it is this podman that the server calls
    return words & {"migrate", "reset", "renumber"}


@pytest.fixture
def server(new_lab: NewLab, image_archive: Path) -> Iterator[Server]:
    lab = new_lab()
    server = Server(recording(lab)).stock(image_archive)
    yield server
    repairs = repaired(lab)
    server.close()
    lab.close()
    assert repairs == set()


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
    assert told["pod_logs"].startswith(f"its container was in the store {store.base}, which was set aside")
    assert told["runtime_id"] == begun["runtime_id"]


def refused(server: Server) -> str:
    """What a server says that does not come up."""
    server.up(wait=False)
    wait_until(lambda: not server.alive())
    assert not (server.job_dir / "runtime_ready.flag").exists()
    return server.log


class Elsewhere(Server):
    """A server over a store in another directory."""

    @property
    def base(self) -> Path:
        return self.lab.base / "t"


def test_a_store_that_was_moved_is_refused(server: Server, image_archive: Path) -> None:
    """Podman would go on where it was made, which may be somebody else's directory by now."""
    shutil.rmtree(server.base)
    elsewhere = Elsewhere(server.lab).stock(image_archive)
    store_of(elsewhere).kill_all()
    elsewhere.base.rename(server.base)
    said = refused(server)
    assert "no usable store for sandboxes on this node: POD002: the store in " in said, said


def test_a_user_without_subordinate_ids_is_refused(bare: Lab) -> None:  # noqa: F811 -- the fixture
    server = Server(recording(bare))
    server.base.mkdir()
    said = refused(server)
    assert "no usable store for sandboxes on this node: POD003: /etc/subuid gives" in said
    assert repaired(bare) == set()
    server.close()


def test_a_node_without_a_container_runtime_is_refused(server: Server) -> None:
    conf = server.lab.base / "containers.conf"
    lines = [line for line in conf.read_text().splitlines() if not line.startswith("runtime")]
    conf.write_text("\n".join([*lines, 'runtime = "nowhere"', ""]))
    assert "no usable store for sandboxes on this node: POD008: " in refused(server)


def test_damaged_locks_of_the_users_other_stores_are_none_of_its_affair(server: Server) -> None:
    """Its own locks are files of its own: POD005 cannot befall it."""
    segment = Path(f"/dev/shm/libpod_rootless_lock_{server.lab.user.uid}")
    if server.lab.user.is_self:
        pytest.skip("the lock segment of a person's own user is left alone")
    segment.write_bytes(b"\xa5" * 4096)
    shutil.chown(segment, server.lab.user.uid)
    try:
        client = server.up().client()
        assert start(client, "s1")["pod_status"] == "ready"
        events = client.get("/events").json()["events"]
        assert [entry for entry in events if entry["event"] == "store set aside"] == []
        assert segment.read_bytes() == b"\xa5" * 4096
        assert server.end() == 0
    finally:
        segment.unlink(missing_ok=True)
