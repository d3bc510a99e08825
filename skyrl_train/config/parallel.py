"""Whether parallel sizes divide the GPUs, the layers and the attention heads (CFG008), and Megatron's data-parallel size."""

from collections.abc import Iterator

from skyrl_train.contracts.record import record


@record(kw_only=True)
class Parallel:
    """The sizes of one trained model: tensor, pipeline, context, expert and expert-tensor parallel."""

    tensor: int = 1
    pipeline: int = 1
    context: int = 1
    expert: int = 1
    expert_tensor: int | None = None

    @property
    def model_ranks(self) -> int:
        """The GPUs that hold one copy of the model."""
        return self.tensor * self.pipeline * self.context

    @property
    def expert_ranks(self) -> int:
        """The GPUs that hold one copy of the experts."""
        return (self.expert_tensor or self.tensor) * self.expert * self.pipeline


def data_parallel_size(gpus: int, sizes: Parallel) -> int | None:  # FIX(CFG002)
    """The number of copies of the model; None if the GPUs do not divide into them."""
    return gpus // sizes.model_ranks if sizes.model_ranks > 0 and gpus % sizes.model_ranks == 0 else None


def gpu_faults(gpus: int, sizes: Parallel) -> Iterator[str]:  # FIX(CFG008)
    """Sizes that do not divide the GPUs, as Megatron refuses them when it builds its groups."""
    if gpus % sizes.model_ranks:
        yield (
            f"tensor {sizes.tensor} x pipeline {sizes.pipeline} x context {sizes.context} = {sizes.model_ranks} GPUs "
            f"for one copy of the model, but the run has {_gpus(gpus)}; expected a number that divides {gpus}"
        )
    elif sizes.expert > 1 and gpus % sizes.expert_ranks:
        yield (
            f"expert tensor {sizes.expert_tensor or sizes.tensor} x expert {sizes.expert} x pipeline {sizes.pipeline} = "
            f"{sizes.expert_ranks} GPUs for one copy of the experts, but the run has {_gpus(gpus)}; expected a number that divides {gpus}"
        )


@record(kw_only=True)
class Mesh:
    """The parallel sizes of prime-rl's trainer: copies of the weights, context parallel, and expert parallel if it is known."""

    replicas: int = 1
    context: int = 1
    expert: int | None = None


def mesh_fault(gpus: int | None, mesh: Mesh) -> str:  # FIX(CFG008)
    """What prime-rl asserts of its sizes when the trainer starts, and does not hold; empty if all holds or is not known."""
    copies, context, expert = mesh.replicas, mesh.context, 1 if mesh.expert is None else mesh.expert
    if min(copies, context, expert) < 1:
        return f"dp_replicate is {copies}, cp {context} and ep {expert}; expected at least 1"
    product = f"cp {context}" if copies == 1 else f"dp_replicate {copies} x cp {context}"
    if gpus is not None and gpus % (copies * context):
        return f"{product} does not divide the {_gpus(gpus)} that train; use sizes with a product that divides {gpus}"
    if expert % context and expert > 1:
        return f"cp {context} does not divide ep {expert}; use a cp that divides it"
    if gpus is not None and gpus // copies % expert:
        one = gpus // copies
        return f"ep {expert} does not divide the {_gpus(one)} of one copy of the weights; use an ep that divides {one}"
    return ""


def shards_fault(gpus: int, shards: int) -> str:  # FIX(CFG008)
    """What breaks the device mesh of FSDP in verl and SkyRL: the GPUs that are left over have no place in it."""
    if shards < 0 or shards >= gpus:
        return ""
    if shards and gpus % shards == 0:
        return ""
    return f"{shards}, which does not divide {_gpus(gpus)}; use -1 to split the weights over all GPUs, or a size that divides {gpus}"


def does_not_divide(whole: int | None, part: int) -> bool:
    """Whether a known whole leaves a remainder."""
    return whole is not None and part > 1 and whole % part != 0


def _gpus(count: int) -> str:
    return "1 GPU" if count == 1 else f"{count} GPUs"
