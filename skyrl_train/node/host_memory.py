"""The host memory that a training node needs, in GiB.

P parameters of B bytes each: weights B·P, gradients B·P, Adam's two moments 2·B·P.
"""

import math
import re
from collections.abc import Mapping

from skyrl_train.contracts.record import record

GIB = 1 << 30
PROCESSES_GIB = 6.0
"""For the driver, the task runner, Ray's processes and the agent loops."""
RANK_GIB = 4.0
"""For a trainer rank and its model server without weights: libraries, CUDA context, pinned buffers."""
OBJECT_STORE_GIB = 2.0
"""For the rollouts of a step in Ray's object store, with a margin."""
SMALL_GIB = 16.0
"""With less memory only a toy model can be trained."""

# Ray's constants, from its _private/ray_constants.py and utils.py
_STORE_MOST = 200 * 10**9
_STORE_SURE = 10**10
_STORE_OF_MEMORY = 0.3
_STORE_OF_SHM = 0.95

_SIZE = re.compile(r"(?<![A-Za-z0-9.])(\d{1,4}(?:\.\d{1,3})?)\s?([BbMm])(?![A-Za-z0-9])")


@record(kw_only=True)
class Training:
    """The inputs of the formula. `billions` counts parameters, `ranks` the GPUs of a node."""

    billions: float
    ranks: int = 1
    nodes: int = 1
    weight_bytes: int = 4
    param_offload: bool = True
    optimizer_offload: bool = True
    cpu_offload: bool = False
    critic: bool = False
    lora: bool = False
    sleeping_servers: int = 0
    """Model servers that keep their weights on the host while they sleep (level 1, which verl uses with LoRA)."""
    checkpoints: bool = True


def host_memory_need_gib(run: Training) -> dict[str, float]:
    """The memory that one node needs, as a sum of named terms."""
    processes = PROCESSES_GIB + RANK_GIB * run.ranks
    terms = {
        "processes": processes,
        "object store": OBJECT_STORE_GIB,
        "weights and optimiser": max(resident_gib(run), _loading_gib(run), _saving_gib(run)),
        "sleeping model servers": run.sleeping_servers * _gib(run, 2),
    }
    return {name: gib for name, gib in terms.items() if gib}


def memory_to_ask_gib(need: float) -> int:  # FIX(ENV007)
    """The memory to request for one node: whole GiB, no less than what it needs."""
    return math.ceil(need)


def resident_gib(run: Training) -> float:
    """The memory that off-loading keeps on the host of one node during the whole run."""
    models = 2 if run.critic else 1
    trained = 0 if run.lora else 1
    bytes_a_parameter = run.weight_bytes if run.param_offload or run.cpu_offload else 0
    if run.optimizer_offload or run.cpu_offload:
        bytes_a_parameter += trained * 2 * run.weight_bytes
    if run.cpu_offload:
        bytes_a_parameter += trained * run.weight_bytes
    return models * _gib(run, bytes_a_parameter) / run.nodes


def _loading_gib(run: Training) -> float:
    """Memory while loading: the first rank of the first node reads all weights before they are distributed."""
    return _gib(run, run.weight_bytes)


def _saving_gib(run: Training) -> float:
    """Memory while saving: weights and optimiser of the node's ranks are collected on the host."""
    if not run.checkpoints:
        return 0.0
    return _gib(run, run.weight_bytes * (1 if run.lora else 3)) / run.nodes


def _gib(run: Training, bytes_a_parameter: float) -> float:
    return run.billions * 1e9 * bytes_a_parameter / GIB


def billions_in_name(name: str) -> float | None:
    """The size in a model's name: `Qwen2.5-Coder-7B` 7, `Qwen3-30B-A3B` 30, `SmolLM2-135M` 0.135. None if it has none.

    Names usually round down.
    """
    found = _SIZE.findall(name.replace("_", "-").rstrip("/").rpartition("/")[2])
    if not found:
        return None
    count, unit = found[0]
    size = float(count) / (1000 if unit in "Mm" else 1)
    return size if 0 < size <= 2000 else None


def ray_store_bytes(*, available: int, shm_free: int) -> int:
    """The default size of Ray's object store. It is in /dev/shm if that has enough space, else on disk."""
    most = min(_STORE_MOST, max(_STORE_SURE, int(shm_free * _STORE_OF_SHM)))
    return min(int(available * _STORE_OF_MEMORY), most)


def ray_refuses_slow_store(size: int, environ: Mapping[str, str]) -> bool:
    """Whether ray.init() fails if a store of this size does not fit into /dev/shm. A smaller one is put on disk."""
    return size > _STORE_SURE and not environ.get("RAY_OBJECT_STORE_ALLOW_SLOW_STORAGE")
