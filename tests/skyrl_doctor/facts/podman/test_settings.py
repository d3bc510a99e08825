"""storage.conf and containers.conf: what they set, and what Podman would refuse."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.facts.podman.settings import (
    BrokenFile,
    EngineConf,
    StorageConf,
    apply_storage_opts,
    merge_engine_conf,
    parse_containers_conf,
    parse_storage_conf,
)

STORAGE = """
[storage]
driver = "overlay"
graphroot = "/g"
runroot = "/r"
rootless_storage_path = "$HOME/g"
unknown = 5
[storage.options]
additionalimagestores = ["/shared"]
mount_program = "/usr/bin/fuse-overlayfs"
[storage.options.overlay]
ignore_chown_errors = "true"
"""


def test_reads_storage_conf() -> None:
    assert parse_storage_conf("s.conf", STORAGE) == StorageConf(
        path="s.conf",
        driver="overlay",
        graph_root="/g",
        run_root="/r",
        rootless_path="$HOME/g",
        mount_program="/usr/bin/fuse-overlayfs",
        ignore_chown_errors=True,
        additional_stores=("/shared",),
    )
    assert parse_storage_conf("s.conf", "") == StorageConf(path="s.conf")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[storage]\ndriver = 5\n", "has driver = 5: expected a string"),
        ("storage = 5\n", "has storage = 5: expected a table"),
        ("[storage.options]\nignore_chown_errors = true\n", "has ignore_chown_errors = True: expected a string"),
        (
            "[storage.options]\nadditionalimagestores = [5]\n",
            "has additionalimagestores = [5]: expected a list of strings",
        ),
    ],
)
def test_a_key_of_another_type_is_refused_as_podman_refuses_it(text: str, why: str) -> None:
    assert parse_storage_conf("s.conf", text) == BrokenFile("s.conf", why)


def test_what_is_no_toml_is_broken() -> None:
    found = parse_storage_conf("s.conf", "[storage")
    assert isinstance(found, BrokenFile)
    assert found.why.startswith("is not valid TOML: ")
    assert isinstance(parse_containers_conf("c.conf", "[engine]\nnum_locks = true\n"), BrokenFile)
    assert isinstance(parse_containers_conf("c.conf", "[engine]\nnum_locks = -1\n"), BrokenFile)


ENGINE = """
[containers]
netns = "host"
[engine]
lock_type = "file"
num_locks = 32
runtime = "runc"
conmon_path = ["/c", {append = true}]
[engine.runtimes]
runc = ["/opt/runc"]
[network]
default_rootless_network_cmd = "slirp4netns"
"""


def test_reads_containers_conf_and_the_later_file_wins() -> None:
    first = parse_containers_conf("a", ENGINE)
    second = parse_containers_conf("b", '[engine]\nruntime = "crun"\nnum_locks = 0\n[engine.runtimes]\ncrun = ["/x"]\n')
    assert isinstance(first, EngineConf)
    assert isinstance(second, EngineConf)
    assert merge_engine_conf(first, second) == EngineConf(
        files=("a", "b"),
        texts=(ENGINE, '[engine]\nruntime = "crun"\nnum_locks = 0\n[engine.runtimes]\ncrun = ["/x"]\n'),
        lock_type="file",
        num_locks=0,
        runtime="crun",
        runtimes={"runc": ("/opt/runc",), "crun": ("/x",)},
        conmon_paths=("/c",),
        rootless_network_cmd="slirp4netns",
        netns="host",
    )


def test_options_of_the_environment_replace_those_of_the_file() -> None:
    whole = parse_storage_conf("s.conf", STORAGE)
    assert isinstance(whole, StorageConf)
    found = apply_storage_opts(whole, "overlay.mount_program=/f, overlay.imagestore=/i,junk")
    assert (found.mount_program, found.ignore_chown_errors, found.additional_stores) == ("/f", False, ("/i",))


@given(st.text())
def test_no_text_crashes_or_is_half_read(text: str) -> None:
    for parse in (parse_storage_conf, parse_containers_conf):
        assert isinstance(parse("x", text), BrokenFile | StorageConf | EngineConf)


@given(st.text(alphabet='[]{}"=.\nstoragedrivu 5', max_size=60))
def test_what_looks_like_toml_does_not_crash_either(text: str) -> None:
    assert isinstance(parse_storage_conf("x", text), BrokenFile | StorageConf)
    assert isinstance(apply_storage_opts(StorageConf(), text), StorageConf)
