"""The rules for vLLM's variables."""

from skyrl_train.node.settings import Preparation, Setting
from skyrl_train.node.vllm import vllm_settings


def test_unsets_the_engine_switch() -> None:
    assert vllm_settings({"VLLM_USE_V1": "0"}) == Preparation(
        settings=(Setting(name="VLLM_USE_V1", value=None, cures="ENV016", why="vLLM 0.12 and later ignore it"),)
    )
    assert vllm_settings({}) == Preparation()
