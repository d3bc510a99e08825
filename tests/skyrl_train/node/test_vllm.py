"""The rules for vLLM's variables."""

import pytest

from skyrl_train.node.settings import Preparation, Setting
from skyrl_train.node.vllm import free_mib_wanted, vllm_settings

SPAWN = Setting(
    name="VLLM_WORKER_MULTIPROC_METHOD",
    value="spawn",
    cures="ENV004",
    why="a forked process inherits a CUDA context that it cannot use",
)


def test_unsets_the_engine_switch() -> None:
    assert vllm_settings({"VLLM_USE_V1": "0", "VLLM_WORKER_MULTIPROC_METHOD": "spawn"}) == Preparation(
        settings=(Setting(name="VLLM_USE_V1", value=None, cures="ENV016", why="vLLM 0.12 and later ignore it"),)
    )


@pytest.mark.parametrize(
    "environ", [{}, *({"VLLM_WORKER_MULTIPROC_METHOD": value} for value in ("fork", "", "Spawn", "spawn "))]
)
def test_has_vllm_spawn(environ: dict[str, str]) -> None:
    assert vllm_settings(environ) == Preparation(settings=(SPAWN,))


def test_leaves_a_right_environment_alone() -> None:
    assert vllm_settings({"VLLM_WORKER_MULTIPROC_METHOD": "spawn"}) == Preparation()


def test_an_engine_wants_its_share_of_the_whole_device() -> None:
    assert free_mib_wanted(81559, 0.5) == 40779
