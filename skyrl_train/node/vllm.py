"""Variables that decide how vLLM starts."""

from collections.abc import Mapping

from skyrl_train.node.settings import Preparation, Setting

ENGINE_SWITCH = "VLLM_USE_V1"
"""Read by vLLM before 0.12 only; later versions have one engine."""


def vllm_settings(environ: Mapping[str, str]) -> Preparation:
    """What vLLM's own variables must be."""
    if ENGINE_SWITCH not in environ:
        return Preparation()
    return Preparation(
        settings=(
            Setting(name=ENGINE_SWITCH, value=None, cures="ENV016", why="vLLM 0.12 and later ignore it"),
        )  # FIX(ENV016)
    )
