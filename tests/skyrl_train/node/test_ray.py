"""Which cluster Ray joins, and how it starts its workers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.node.ray import address_file, head_port, is_uv_run, ray_settings, uv_hook_is_on
from skyrl_train.node.settings import Directory, Preparation, Setting

OFF = {"RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0"}
NO_UV = Setting(
    name="RAY_ENABLE_UV_RUN_RUNTIME_ENV",
    value="0",
    cures="ENV003",
    why="under `uv run`, Ray would build the environment again for every worker",
)


@pytest.mark.parametrize(
    ("value", "on"),
    [
        (None, True),
        ("1", True),
        ("true", True),
        ("TRUE", True),
        ("", False),
        ("0", False),
        ("yes", False),
        ("1 ", False),
    ],
)
def test_reads_the_switch_as_ray_does(value: str | None, on: bool) -> None:
    assert uv_hook_is_on({} if value is None else {"RAY_ENABLE_UV_RUN_RUNTIME_ENV": value}) is on


def test_a_hook_by_name_is_on_whatever_the_switch_says() -> None:
    named = {**OFF, "RAY_RUNTIME_ENV_HOOK": "ray._private.runtime_env.uv_runtime_env_hook.hook"}
    assert uv_hook_is_on(named) is True
    assert uv_hook_is_on({**OFF, "RAY_RUNTIME_ENV_HOOK": "site.hooks.other"}) is False


@pytest.mark.parametrize(
    ("argv", "found"),
    [
        (("uv", "run", "python", "x.py"), True),
        (("/home/trainer/.local/bin/uv", "run"), True),
        (("uv",), False),
        (("uv", "pip", "run"), False),
        (("uv", "--quiet", "run", "python"), False),
        (("uvx", "run"), False),
        ((), False),
    ],
)
def test_takes_for_uv_run_what_ray_takes_for_it(argv: tuple[str, ...], found: bool) -> None:
    assert is_uv_run(argv) is found


def test_switches_the_hook_off_and_leaves_it_off() -> None:
    assert ray_settings({}, uid=1000, job_id=None) == Preparation(settings=(NO_UV,))
    assert ray_settings(OFF, uid=1000, job_id=None) == Preparation()


def test_takes_the_hook_by_name_away_too() -> None:
    environ = {**OFF, "RAY_RUNTIME_ENV_HOOK": "ray._private.runtime_env.uv_runtime_env_hook.hook"}
    gone = Setting(name="RAY_RUNTIME_ENV_HOOK", value=None, cures="ENV003", why="it turns on the same hook")
    assert ray_settings(environ, uid=1000, job_id=None) == Preparation(settings=(NO_UV, gone))


@pytest.mark.parametrize(("address", "taken"), [("10.0.0.1:6379", True), ("auto", True), ("", False), ("local", False)])
def test_takes_away_an_address_of_another_cluster(address: str, taken: bool) -> None:
    gone = Setting(
        name="RAY_ADDRESS",
        value=None,
        cures="ENV009",
        why="ray.init() would join that cluster instead of starting a new one for this job",
    )
    wanted = Preparation(settings=(gone,)) if taken else Preparation()
    assert ray_settings({**OFF, "RAY_ADDRESS": address}, uid=1000, job_id=None) == wanted


def test_gives_a_job_a_directory_of_its_own() -> None:
    own = Setting(
        name="RAY_TMPDIR",
        value="/tmp/r4711",
        cures="ENV009",
        why="/tmp/ray/ray_current_cluster may name the cluster of another job",
    )
    assert ray_settings(OFF, uid=1000, job_id="4711") == Preparation(
        settings=(own,), directories=(Directory(path="/tmp/r4711"),)
    )


@pytest.mark.parametrize("environ", [{"RAY_TMPDIR": "/scratch/mine"}, {"TMPDIR": "/scratch/4711"}])
def test_leaves_a_directory_that_is_the_job_s_own_already(environ: dict[str, str]) -> None:
    assert ray_settings({**OFF, **environ}, uid=1000, job_id="4711") == Preparation()


def test_finds_the_file_where_ray_looks_for_it() -> None:
    assert address_file({}) == "/tmp/ray/ray_current_cluster"
    assert address_file({"TMPDIR": "/scratch"}) == "/scratch/ray/ray_current_cluster"
    assert address_file({"TMPDIR": "/scratch", "RAY_TMPDIR": "/tmp/r1"}) == "/tmp/r1/ray/ray_current_cluster"
    assert address_file({"RAY_TMPDIR": ""}) == "ray/ray_current_cluster"


@given(st.text())
def test_gives_a_port_that_neither_ray_nor_the_kernel_gives_to_others(job_id: str) -> None:
    assert 20000 <= head_port(job_id) < 30000
