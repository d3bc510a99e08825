"""The bytes that Megatron needs on one GPU for a model.

Megatron keeps bfloat16 weights and a float32 gradient for each (core/distributed/param_and_grad_buffer.py), and its
optimiser a float32 copy and Adam's two states, divided over the data-parallel GPUs by the distributed optimiser
(core/optimizer/distrib_optimizer.py). Nothing is gathered unit by unit. Not calibrated yet.
"""

from skyrl_train.memory.parameters import in_embedding, in_experts, in_layers, in_root
from skyrl_train.memory.states import Model
from skyrl_train.memory.units import BF16, FP32

STATES = 3 * FP32


class MegatronModel(Model):
    """A model under Megatron: divided by layers, by the width of its maps and by its experts."""

    __slots__ = ()

    @property
    def master(self) -> int:
        return BF16

    @property
    def _experts(self) -> float:
        experts = self.shape.experts
        if experts is None:
            return 0
        layers = self.shape.layers - experts.dense_layers
        return layers * in_experts(self.shape) / self.job.parallel.expert_ranks

    @property
    def _dense(self) -> float:
        """Parameters without the experts. The first stage has the embedding, the last one the head."""
        sizes, experts, shape = self.job.parallel, self.shape.experts, self.shape
        sparse = 0 if experts is None else (shape.layers - experts.dense_layers) * in_experts(shape)
        root = in_embedding(shape) if sizes.pipeline > 1 else in_root(shape, value_head=self.value_head)
        layers = (in_layers(shape) - sparse + shape.vision) / (sizes.tensor * sizes.pipeline)
        return layers + root / sizes.tensor

    @property
    def _parameters(self) -> float:
        return self._dense + self._experts

    @property
    def weights(self) -> float:
        return self._parameters * BF16

    @property
    def adapters(self) -> float:
        sizes = self.job.parallel
        return self.adapter_parameters / (sizes.tensor * sizes.pipeline) * BF16

    @property
    def gradients(self) -> float:
        return (self.adapters / BF16 if self.job.lora_rank else self._parameters) * FP32

    @property
    def optimizer(self) -> float:
        if self.job.lora_rank:
            return self.adapters / BF16 * STATES
        if not self.job.distributed_optimizer:
            return self._parameters * STATES
        sizes, gpus = self.job.parallel, self.job.n_gpus
        copies = max(1, gpus // (sizes.tensor * sizes.pipeline))
        expert_copies = max(1, gpus // sizes.expert_ranks)
        return (self._dense / copies + self._experts / expert_copies) * STATES

    @property
    def optimizer_work(self) -> float:
        return 0

    @property
    def at_rest(self) -> float:
        gradients = 0 if self.job.grad_offload else self.gradients
        return super().at_rest + gradients

    @property
    def root(self) -> float:
        return 0

    @property
    def layer(self) -> float:
        return 0

    @property
    def head(self) -> float:
        return 0

    @property
    def load_work(self) -> float:
        return 0

    @property
    def largest_tensor(self) -> float:
        """The embedding, gathered over the tensor-parallel GPUs for vLLM."""
        return in_embedding(self.shape) * BF16

    @property
    def reference_unit(self) -> float:
        """The reference is loaded whole."""
        return self.weights

    @property
    def held_layers(self) -> int:
        """The layers of this stage, for each micro batch in flight in the first one (1F1B)."""
        stages = self.job.parallel.pipeline
        return -(-self.shape.layers // stages) * min(stages, self.micro_batches)
