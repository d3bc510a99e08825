"""verl's extension of a vLLM worker, where weights stay as they were loaded so that they can be written again in place.

vLLM packs a layer's weights for oneDNN on a CPU, and throws the parameter away that the next weights would go into.
"""

import torch
from vllm.model_executor.layers import utils

from skyrl_train.rl.vllm_worker import Worker as Ours


def _as_loaded(layer: torch.nn.Module, remove_weight: bool) -> None:
    layer.cpu_linear = torch.nn.functional.linear


utils.dispatch_cpu_unquantized_gemm = _as_loaded


class Worker(Ours):
    """Given to vLLM as worker_extension_cls."""
