"""The bytes that FSDP needs on one GPU for a model: weights, gradients, Adam's states and gathered units.

Only Adam-like optimisers: two states in master precision for each parameter (verl's default is torch's AdamW).
"""

from typing import NamedTuple

from skyrl_train.memory.job import Job
from skyrl_train.memory.parameters import (
    in_adapters,
    in_embedding,
    in_expert_adapters,
    in_experts,
    in_layer,
    in_layers,
    in_model,
    in_root,
)
from skyrl_train.memory.shape import ModelShape
from skyrl_train.memory.units import DTYPE_BYTES, FP32


class Model(NamedTuple):
    """A model that is trained: the actor, or the critic under its own settings. Bytes on one GPU."""

    shape: ModelShape
    job: Job  # the settings that hold for this model
    value_head: bool = False

    @property
    def param_offload(self) -> bool:
        return self.job.param_offload or self._stays_on_host

    @property
    def optimizer_offload(self) -> bool:
        return self.job.optimizer_offload or self._stays_on_host

    @property
    def _stays_on_host(self) -> bool:
        return self.job.offload_policy and self.job.strategy == "fsdp2"

    @property
    def master(self) -> int:
        return DTYPE_BYTES[self.job.master_dtype]

    @property
    def compute(self) -> int:
        return DTYPE_BYTES[self.job.param_dtype]

    def _sharded(self, parameters: float) -> float:
        return 0 if self._stays_on_host else parameters * self.master / self.job.shards

    @property
    def weights(self) -> float:
        return self._sharded(in_model(self.shape, value_head=self.value_head))

    @property
    def adapter_parameters(self) -> int:
        rank = self.job.lora_rank
        if not rank:
            return 0
        experts = in_expert_adapters(self.shape, rank) if self.job.framework == "prime-rl" else 0
        return self.shape.layers * (in_adapters(self.shape, rank, self.job.lora_targets) + experts)

    @property
    def adapters(self) -> float:
        return self._sharded(self.adapter_parameters)

    @property
    def _trained(self) -> float:
        return self.adapters if self.job.lora_rank else self.weights

    @property
    def gradients(self) -> float:
        """Gradients in master precision: FSDP casts them from bfloat16 (_cast_grad_to_param_dtype)."""
        return self._trained

    @property
    def optimizer(self) -> float:
        return 2 * self._trained

    @property
    def optimizer_work(self) -> float:
        """torch optim/adam.py _multi_tensor_adam: exp_avg_sq_sqrt, a copy of the second moment for every parameter."""
        return self._trained

    @property
    def at_rest(self) -> float:
        parameters = 0 if self.param_offload else self.weights + self.adapters
        return parameters + (0 if self.optimizer_offload else self.optimizer)

    @property
    def root(self) -> float:
        """The gathered root unit: embedding, last norm, head."""
        return in_root(self.shape, value_head=self.value_head) * self.compute

    @property
    def layer(self) -> float:
        """One gathered decoder layer."""
        elsewhere = in_experts(self.shape) * (1 - 1 / self.job.expert_parallel)
        return (in_layer(self.shape) - elsewhere) * self.compute

    @property
    def head(self) -> float:
        """The output map's own gradient, in the compute precision."""
        size = self.shape.hidden if self.value_head else in_embedding(self.shape)
        return size * self.compute

    @property
    def largest_tensor(self) -> float:
        return in_embedding(self.shape) * self.master

    @property
    def load_work(self) -> float:
        """FSDP moves a unit to the GPU and flattens it there, so the root exists twice for a moment; FSDP1 with several ranks
        holds it once more, to cut it (measured)."""
        copies = 2 if self.job.strategy == "fsdp" and self.job.shards > 1 else 1
        return in_root(self.shape, value_head=self.value_head) * self.master * copies

    @property
    def cloned(self) -> float:
        """The state dict's clone of every parameter, if FSDP1 has one rank (_state_dict_utils.py _full_post_state_dict_hook)."""
        if not self._alone:
            return self._cloned_shard
        twice = in_embedding(self.shape) * self.master if self.shape.tied else 0
        return self.weights + self.adapters + twice

    @property
    def _cloned_shard(self) -> float:
        """FSDP1 on several ranks clones its own shard, and sends the largest tensor in the compute precision (measured)."""
        if self.job.strategy != "fsdp":
            return 0
        return self.weights + self.adapters + in_embedding(self.shape) * self.compute

    @property
    def _alone(self) -> bool:
        """Whether this is FSDP1 on one rank, where nothing is sharded (_init_utils.py: NO_SHARD for a world size of 1)."""
        return self.job.strategy == "fsdp" and self.job.shards == 1

    @property
    def keeps_stale_copy(self) -> bool:
        """Whether off-loaded weights stay on the GPU while vLLM runs.

        After a state dict, the modules of FSDP1 on one rank hold views of the parameters until the next forward pass
        (measured).
        """
        return self.job.param_offload and self._alone and not self.value_head

    @property
    def summoned(self) -> float:
        """The copy of the layers in full precision that summon_full_params makes on one rank (collect_lora_params)."""
        if not (self.job.lora_rank and self._alone):
            return 0
        layers = in_layers(self.shape) + self.adapter_parameters
        return layers * self.master

    @property
    def gathered_for_adapters(self) -> float:
        """What FSDP1 on several ranks gathers in full precision to send the adapters: the model, or one unit at a time.

        fsdp_utils.py collect_lora_params: summon_full_params of the root. With `layered_summon` the loop over the units
        finds none (each adapter matrix is a unit of its own), and each gathered unit goes to the host at once
        (`offload_to_cpu`). FSDP2 gathers the adapters alone.
        """
        if not (self.job.lora_rank and self.job.strategy == "fsdp" and self.job.shards > 1):
            return 0
        if self.job.layered_summon:
            return max(in_root(self.shape), in_layer(self.shape)) * self.master
        return (in_model(self.shape) + self.adapter_parameters) * self.master

    @property
    def cut_for_adapters(self) -> float:
        """This rank's share of the layers, which the state dict of the gathered model clones on the GPU.

        peft's get_peft_model_state_dict asks the wrapped module, so each layer's hook runs and the root's does not
        (torch _state_dict_utils.py _sharded_post_state_dict_hook).
        """
        if not self.gathered_for_adapters:
            return 0
        return (in_layers(self.shape) + self.adapter_parameters) * self.master / self.job.shards

    @property
    def held_layers(self) -> int:
        """The decoder layers whose activations wait on this GPU for the backward pass."""
        return self.shape.layers

    @property
    def updates(self) -> int:
        """The number of mini batches in a step."""
        return 1 if self.job.train_batch is None else max(1, self.job.train_batch // self.job.mini_batch)

    @property
    def reference_unit(self) -> float:
        """FSDP1 with CPUOffload on one rank: a unit arrives as float32 and is copied to the compute precision."""
        return max(in_root(self.shape), in_layer(self.shape)) * FP32

    def arriving(self, unit: float) -> float:
        """The shard of a unit that comes from the host: in float32, and its copy in the compute precision."""
        return unit / self.compute * (FP32 + self.compute) / self.job.shards

    @property
    def root_stays(self) -> bool:
        """Whether FSDP keeps the root after a forward pass: FSDP1 with shards (_post_forward_reshard: not state._is_root)."""
        return self.job.strategy == "fsdp" and self.job.shards > 1

    @property
    def root_left(self) -> float:
        """The gathered root that a pass without gradients leaves until the next backward pass.

        verl releases it only if `fsdp_size` is set (transformer_impl.py EngineEvalModeCtx).
        """
        return self.root if self.root_stays and self.job.fsdp_size < 0 else 0

    @property
    def tokens(self) -> int:
        return self.job.tokens(self.job.micro_batch, self.job.max_tokens)

    @property
    def _step_prompts(self) -> int:
        return max(self.job.train_batch or 0, self.job.mini_batch)

    @property
    def log_prob_tokens(self) -> int:
        return self.job.tokens(self.job.log_prob_micro_batch, self.job.log_prob_max_tokens, self._step_prompts)

    @property
    def reference_tokens(self) -> int:
        return self.job.tokens(self.job.ref_micro_batch, self.job.log_prob_max_tokens, self._step_prompts)

    @property
    def micro_batches(self) -> int:
        """The number of micro batches in one update. From the second on, gradients are accumulated."""
        ranks = max(1, self.job.n_gpus // self.job.replica)
        sequences = max(1, self.job.mini_batch * self.job.n // ranks)
        if self.job.max_tokens is not None:
            return -(-sequences * self.job.longest // self.job.max_tokens)
        return -(-sequences // self.job.micro_batch)
