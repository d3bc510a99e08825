"""Variables that decide how vLLM starts."""

from collections.abc import Mapping

from skyrl_train.node.settings import Preparation, Setting

ENGINE_SWITCH = "VLLM_USE_V1"
"""Only vLLM before 0.12 reads it; later versions have one engine."""

START_METHOD = "VLLM_WORKER_MULTIPROC_METHOD"
"""How vLLM starts its processes: `fork`, its default, or `spawn`."""
WANTED_START_METHOD = "spawn"


def vllm_settings(environ: Mapping[str, str]) -> Preparation:
    """The settings of vLLM's variables."""
    return _without_engine_switch(environ) + _with_spawn(environ)


def starts_by_spawn(environ: Mapping[str, str]) -> bool:
    """Whether vLLM always starts its processes with spawn. vLLM compares the text exactly."""
    return environ.get(START_METHOD) == WANTED_START_METHOD


def free_mib_wanted(total_mib: int, utilization: float) -> int:
    """The free GPU memory that an engine needs at its start: its share of the whole device. With less it refuses."""
    return int(total_mib * utilization)


def _without_engine_switch(environ: Mapping[str, str]) -> Preparation:
    if ENGINE_SWITCH not in environ:
        return Preparation()
    return Preparation(
        settings=(
            Setting(name=ENGINE_SWITCH, value=None, cures="ENV016", why="vLLM 0.12 and later ignore it"),
        )  # FIX(ENV016)
    )


def _with_spawn(environ: Mapping[str, str]) -> Preparation:
    if starts_by_spawn(environ):
        return Preparation()
    return Preparation(
        settings=(
            Setting(
                name=START_METHOD,
                value=WANTED_START_METHOD,  # FIX(ENV004)
                cures="ENV004",
                why="a forked process inherits a CUDA context that it cannot use",
            ),
        )
    )
