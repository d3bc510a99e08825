"""verl's extension of a vLLM worker, which also looks at what a weight sync loaded. FIX(TRN021)

vLLM takes it as `worker_extension_cls`. An error here ends the sync, and with it the run.
"""

from collections.abc import Iterable
from typing import Any

from verl.workers.rollout.vllm_rollout.utils import vLLMColocateWorkerExtension

from skyrl_train.rl.weights_received import Received


class Worker(vLLMColocateWorkerExtension):
    """The names of its own attributes must not be those of a vLLM worker."""

    def update_weights_from_ipc(self, *args: Any, **words: Any) -> None:
        """verl's, with a note of each parameter that the model's loader reports."""
        model, loaded = self.model_runner.model, set[str]()
        load = model.load_weights

        def noting(weights: Iterable[tuple[str, Any]]) -> Any:
            names = load(weights)
            loaded.update(names or ())
            return names

        model.load_weights = noting
        try:
            super().update_weights_from_ipc(*args, **words)
        finally:
            del model.load_weights
        if not hasattr(self, "skyrl_received"):  # verl makes a worker without calling __init__
            self.skyrl_received = Received()
        if fault := self.skyrl_received.fault((name for name, _ in model.named_parameters()), loaded):
            raise RuntimeError(fault)
