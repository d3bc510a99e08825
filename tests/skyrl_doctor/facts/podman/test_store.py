"""Where the store is, by version, user and variables: each line was seen of podman 4.3.1 or 5.4.2 itself."""

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.podman_store import DIRECTORY, IDENTITY, PLACES, STORE, XDG, Bare, bolt, store
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.podman.database import Database
from skyrl_doctor.facts.podman.program import Podman
from skyrl_doctor.facts.podman.runtime_dir import RuntimeDir, Seen, candidates, decide
from skyrl_doctor.facts.podman.settings import BrokenFile, EngineConf, StorageConf
from skyrl_doctor.facts.podman.store import Places, PodmanStore, expand, locate, podman_store

OWN = Seen(True, 1000, 0o700)
ALL_SET = StorageConf(path="s", driver="overlay2", graph_root="/g", run_root="/r", rootless_path="$HOME/$UID/${USER}")
RUNTIME = RuntimeDir(asked="/x", used="/x", for_store="/x", seen=OWN)


def placed(environ: dict[str, str], *, major: int | None = 4, system_path: bool = False, **changes: Any) -> Places:
    arguments: dict[str, Any] = {
        "uid": 1000,
        "environ": environ,
        "home": "/h",
        "storage": ALL_SET,
        "engine": EngineConf(),
        "runtime_dir": RUNTIME,
        **changes,
    }
    return locate(**arguments, major=major, system_path=system_path)


def test_the_user_s_own_file_counts_whole() -> None:
    assert placed({}) == Places(
        graph_root="/g", run_root="/r", tmp_dir="/x/libpod/tmp", static_dir="/g/libpod", driver="overlay"
    )


@pytest.mark.parametrize(("major", "graph"), [(4, "/h/1000/me"), (5, "/h/1000/me"), (None, "/h/1000/me"), (6, "/g")])
def test_of_the_variable_s_file_one_key_counts_before_podman_6(major: int | None, graph: str) -> None:
    environ = {"CONTAINERS_STORAGE_CONF": "s", "HOME": "/h", "USER": "me"}
    assert placed(environ, major=major).graph_root == graph


def test_of_the_site_s_file_one_key_counts() -> None:
    found = placed({"HOME": "/h", "USER": "me"}, system_path=True)
    assert (found.graph_root, found.run_root) == ("/h/1000/me", "/x/containers")


def test_defaults() -> None:
    bare = StorageConf()
    assert placed({}, storage=bare).graph_root == "/h/.local/share/containers/storage"
    assert placed({"XDG_DATA_HOME": "/d"}, storage=bare).graph_root == "/d/containers/storage"
    assert placed({"STORAGE_DRIVER": "vfs"}).driver == "vfs"
    assert placed({}, uid=0, storage=bare, runtime_dir=None) == Places(
        graph_root="/var/lib/containers/storage",
        run_root="/run/containers/storage",
        tmp_dir="/run/libpod",
        static_dir="/var/lib/containers/storage/libpod",
        driver="",
    )
    moved = placed({}, engine=EngineConf(static_dir="/s", tmp_dir="/t"))
    assert (moved.static_dir, moved.tmp_dir) == ("/s", "/t")


def test_the_database_s_places_come_first() -> None:
    made = Database(path="x", graph_root="/old", run_root="/oldrun", tmp_dir="/oldtmp", driver="vfs")
    assert store(database=made).places == Places(
        graph_root="/old", run_root="/oldrun", tmp_dir="/oldtmp", static_dir=PLACES.static_dir, driver="vfs"
    )
    assert STORE.places == PLACES


def test_a_broken_file_leaves_the_place_unknown() -> None:
    with pytest.raises(CouldNotLook, match=r"where the store is stays unknown: s\.conf: is empty"):
        store(broken=(BrokenFile("s.conf", "is empty"),)).require_readable()
    STORE.require_readable()


@given(st.text(), st.dictionaries(st.text(), st.text()))
def test_no_path_crashes(path: str, environ: dict[str, str]) -> None:
    assert isinstance(expand(path, environ, 1000), str)


def test_expands_as_podman_does() -> None:
    environ = {"HOME": "/h", "UIDX": "no"}
    assert expand("$HOME/$UID/${NOTSET}/a/../b", environ, 7) == "/h/7/b"


def look(asked: str | None, major: int | None, **seen: Seen) -> RuntimeDir:
    table = {path.replace("_", "/"): found for path, found in seen.items()}
    return decide(asked, uid=1000, tmp="/tmp", major=major, seen=table)


@pytest.mark.parametrize("major", [4, 5, None])
def test_a_runtime_dir_that_is_there_is_used(major: int | None) -> None:
    assert look("/x", major, _x=OWN) == RuntimeDir(asked="/x", used="/x", for_store="/x", seen=OWN)


def test_one_that_is_not_there_is_passed_over_before_podman_5() -> None:
    assert look("/x", 4) == RuntimeDir(
        asked="/x", used="/tmp/podman-run-1000", for_store="/tmp/containers-user-1000", seen=None
    )
    assert look("/x", 5).refused == "/x does not exist"


@pytest.mark.parametrize("asked", [None, ""])
def test_without_one_the_fallbacks_differ(asked: str | None) -> None:
    assert look(asked, 4).used == look(asked, 4).for_store == "/tmp/podman-run-1000"
    assert look(asked, 5).used == look(asked, 5).for_store == "/tmp/storage-run-1000"
    session = decide(asked, uid=1000, tmp="/tmp", major=4, seen={"/run/user/1000": OWN})
    assert (session.used, session.for_store) == ("/run/user/1000", "/run/user/1000")
    foreign = decide(asked, uid=1000, tmp="/tmp", major=4, seen={"/run/user/1000": Seen(True, 0, 0o700)})
    assert foreign.used == "/tmp/podman-run-1000"


def test_one_of_somebody_else_is_refused() -> None:
    assert look("/x", 4, _x=Seen(True, 0, 0o755)).refused == "/x belongs to uid 0"
    assert look("/x", 4, _x=Seen(False, 1000, 0o600)).refused == "/x is no directory"


def test_only_two_directories_decide() -> None:
    assert (candidates(XDG, 1000), candidates("", 1000)) == ((XDG, "/run/user/1000"), ("/run/user/1000",))


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
