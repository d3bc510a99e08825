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


def does_not_divide(whole: int | None, part: int) -> bool:
    """Whether a known whole leaves a remainder."""
    return whole is not None and part > 1 and whole % part != 0


def _gpus(count: int) -> str:
    return "1 GPU" if count == 1 else f"{count} GPUs"
