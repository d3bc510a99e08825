"""Which files say where the store is."""

import base64
from typing import Any

import pytest

from fakes.podman_store import DIRECTORY, IDENTITY, Bare, bolt
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.podman.program import Podman
from skyrl_doctor.facts.podman.settings import BrokenFile
from skyrl_doctor.facts.podman.store import PodmanStore
from skyrl_doctor.probes.podman.store import podman_store

FOUR, FIVE = Podman("/usr/bin/podman", (4, 3, 1)), Podman("/usr/bin/podman", (5, 4, 2))


def found(
    environ: dict[str, str], files: dict[str, str] | None = None, podman: Podman = FOUR, **answers: Any
) -> PodmanStore:
    base = {"environ": {"HOME": "/h", "XDG_RUNTIME_DIR": "/x", **environ}, "identity": IDENTITY, "stat /x": DIRECTORY}
    texts = {f"read {path}": text for path, text in (files or {}).items()}
    store = podman_store(Bare({**base, **texts, **answers}), podman)
    assert isinstance(store, PodmanStore)
    return store


def conf(root: str) -> str:
    return f'[storage]\ndriver = "overlay"\ngraphroot = "{root}"\nrootless_storage_path = "{root}"\n'


def test_the_first_file_counts_alone() -> None:
    files = {
        "/named": conf("/of-variable"),
        "/c/containers/storage.conf": conf("/of-config-home"),
        "/h/.config/containers/storage.conf": conf("/of-home"),
        "/etc/containers/storage.conf": conf("/of-etc"),
        "/usr/share/containers/storage.conf": conf("/of-usr"),
    }
    named = {"CONTAINERS_STORAGE_CONF": "/named", "XDG_CONFIG_HOME": "/c"}
    assert found(named, files).places.graph_root == "/of-variable"
    assert found({"XDG_CONFIG_HOME": "/c"}, files).places.graph_root == "/of-config-home"
    assert found({}, files).places.graph_root == "/of-home"
    del files["/h/.config/containers/storage.conf"]
    assert found({}, files).places.graph_root == "/of-etc"
    del files["/etc/containers/storage.conf"]
    assert found({}, files).places.graph_root == "/of-usr"
    assert found({}).places.graph_root == "/h/.local/share/containers/storage"


@pytest.mark.parametrize("name", ["/nowhere", ""])
def test_a_file_that_a_variable_names_must_be_there(name: str) -> None:
    path = name or "CONTAINERS_STORAGE_CONF=''"
    assert found({"CONTAINERS_STORAGE_CONF": name}).broken == (BrokenFile(path, "there is no such file"),)
    assert found({"CONTAINERS_CONF": "/nowhere"}).broken == (BrokenFile("/nowhere", "there is no such file"),)
    assert found({"CONTAINERS_CONF": ""}).broken == ()


def test_all_containers_conf_files_count_unless_a_variable_names_one() -> None:
    files = {
        "/usr/share/containers/containers.conf": '[engine]\nruntime = "a"\nlock_type = "shm"\n',
        "/etc/containers/containers.conf": '[engine]\nruntime = "b"\n',
        "/etc/containers/containers.conf.d/1.conf": '[engine]\nruntime = "c"\n',
        "/h/.config/containers/containers.conf": '[network]\nnetwork_backend = "cni"\n',
        "/only": '[engine]\nruntime = "z"\n',
        "/over": '[engine]\nlock_type = "file"\n',
    }
    listing = {"list /etc/containers/containers.conf.d": ["1.conf", "README"]}
    merged = found({}, files, **listing).engine
    assert (merged.runtime, merged.lock_type, merged.network_backend) == ("c", "shm", "cni")
    assert merged.files == tuple(files)[:4]
    only = found({"CONTAINERS_CONF": "/only", "CONTAINERS_CONF_OVERRIDE": "/over"}, files, **listing).engine
    assert (only.runtime, only.lock_type, only.files) == ("z", "file", ("/only", "/over"))


def test_a_broken_file_is_kept_and_the_rest_is_read() -> None:
    store = found({}, {"/etc/containers/containers.conf": "[engine", "/h/.config/containers/storage.conf": "x = "})
    assert [file.path for file in store.broken] == [
        "/h/.config/containers/storage.conf",
        "/etc/containers/containers.conf",
    ]


def test_the_store_s_own_database_has_the_last_word() -> None:
    data = bolt({b"runtime-config": {b"graph-root": b"/old", b"tmp-dir": b"/oldtmp"}})
    path = "/h/.local/share/containers/storage/libpod/bolt_state.db"
    ranges = {
        f"read {path}{f' {at}+{size}' if at else ''}": {"base64": _base64(data[at : at + size])}
        for at, size in ((0, 80), (4096, 80), (12288, 4096))
    }
    file = {**DIRECTORY, "kind": "file", "size": len(data)}
    store = found({}, **{f"stat {path}": file, **ranges})
    assert (store.places.graph_root, store.pause_file) == ("/old", "/oldtmp/pause.pid")
    five = found({}, podman=FIVE, **{f"stat {path}": file, **ranges})
    assert five.pause_file == "/x/libpod/tmp/pause.pid"


def test_without_home_the_password_file_tells() -> None:
    environ = {"environ": {"XDG_RUNTIME_DIR": "/x"}, "identity": IDENTITY, "stat /x": DIRECTORY}
    known = Bare({**environ, "read /etc/passwd": "root:x:0:0::/root:/bin/sh\nme:x:1000:1000::/home/me:/bin/sh\n"})
    store = podman_store(known, FOUR)
    assert isinstance(store, PodmanStore)
    assert store.places.graph_root == "/home/me/.local/share/containers/storage"
    with pytest.raises(CouldNotLook, match=r"^HOME is not set, and /etc/passwd names no home of uid 1000$"):
        podman_store(Bare({**environ, "read /etc/passwd": "garbage\n"}), FOUR)


def test_root_has_the_system_s_store() -> None:
    store = found({}, identity={**IDENTITY, "uid": 0})
    assert (store.rootless, store.runtime_dir, store.places.graph_root) == (False, None, "/var/lib/containers/storage")


def test_storage_opts_replace_the_file_s_options() -> None:
    files = {"/h/.config/containers/storage.conf": '[storage.options]\nmount_program = "/f"\n'}
    assert found({}, files).storage.mount_program == "/f"
    assert found({"STORAGE_OPTS": "overlay.ignore_chown_errors=true"}, files).storage.mount_program == ""


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
