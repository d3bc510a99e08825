"""Paths of sockets, and the cure for long ones."""

from skyrl_train.node.ray_tmp import LIMIT_BYTES, ray_socket, socket_settings, vllm_socket
from skyrl_train.node.settings import Directory, Preparation, Setting

DEEP = "/scratch/" + "d" * 70


def test_ray_and_vllm_as_they_build_their_paths() -> None:
    assert ray_socket({"RAY_TMPDIR": "/r", "TMPDIR": "/t"}, pid_digits=5).path == (
        "/r/ray/session_2026-01-31_23-59-59_123456_99999/sockets/plasma_store"
    )
    assert ray_socket({"TMPDIR": "/t"}).base == "/t"
    assert ray_socket({}).base == "/tmp"
    assert vllm_socket({"TMPDIR": "/t"}).path == "/t/ffffffff-ffff-ffff-ffff-ffffffffffff".replace("-", "f")
    assert vllm_socket({"TMPDIR": "", "TEMP": "/e"}).base == "/e"
    assert vllm_socket({"VLLM_RPC_BASE_PATH": "/v", "TMPDIR": "/t"}).source == "VLLM_RPC_BASE_PATH"


def test_a_long_path_is_moved_and_the_move_is_short_enough() -> None:
    prepared = socket_settings({"TMPDIR": DEEP}, uid=1000, job_id="4711")
    assert prepared == Preparation(
        settings=(
            Setting(
                name="RAY_TMPDIR",
                value="/tmp/r4711",
                cures="ENV006",
                why="the path of Ray's socket would have 147 bytes, but the limit is 107",
            ),
            Setting(
                name="VLLM_RPC_BASE_PATH",
                value="/tmp/r4711",
                cures="ENV006",
                why="the path of vLLM's socket would have 116 bytes, but the limit is 107",
            ),
        ),
        directories=(Directory(path="/tmp/r4711"),),
    )
    moved = {setting.name: setting.value or "" for setting in prepared.settings}
    assert max(ray_socket(moved).length, vllm_socket(moved).length) <= LIMIT_BYTES


def test_a_short_one_stays_and_outside_of_a_job_the_user_names_the_directory() -> None:
    assert socket_settings({"TMPDIR": "/tmp"}, uid=1000, job_id="4711") == Preparation()
    prepared = socket_settings({"TMPDIR": DEEP, "RAY_TMPDIR": "/tmp"}, uid=1000, job_id=None)
    assert [(setting.name, setting.value) for setting in prepared.settings] == [("VLLM_RPC_BASE_PATH", "/tmp/r-1000")]
