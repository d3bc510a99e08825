"""Packed attention as flash-attn does it, on an installation without flash-attn.

torch carries the same kernel for sequences of several lengths in one row (aten::_flash_attention_forward). It keeps what
flash-attn keeps for the backward pass: q, k, v, the output and one number a row. Without it, verl's use_remove_padding
could only be measured with a dense mask that no real run has.
"""

import importlib.util
import os
from types import ModuleType
from typing import Any

NAME = "packed_varlen"
"""Not a name with "flash" in it: transformers would look for a kernel on the hub."""
CROSS_ENTROPY = "CALIBRATION_CROSS_ENTROPY"
"""Path of flash_attn/ops/triton/cross_entropy.py (plain Triton), which verl uses for log-probs if flash-attn is there."""


def installed() -> bool:
    """The real flash-attn, with its kernels."""
    return importlib.util.find_spec("flash_attn") is not None


def _starts(position_ids: Any) -> Any:
    """Offsets of the sequences in the row: wherever a position is 0."""
    import torch

    flat = position_ids.view(-1)
    starts = (flat == 0).nonzero().view(-1).to(torch.int32)
    return torch.cat([starts, starts.new_tensor([flat.numel()])])


def kernel(
    query: Any, key: Any, value: Any, _mask: Any, _length: int, *_args: Any, position_ids: Any, **kwargs: Any
) -> Any:
    """In the place of transformers' _flash_attention_forward: tensors are (batch, tokens, heads, head_dim)."""
    import torch

    if not query.is_cuda:  # a trial, whose figures are zeros
        heads = query.shape[2] // key.shape[2]
        swapped = [states.transpose(1, 2) for states in (query, key, value)]
        swapped[1:] = [states.repeat_interleave(heads, 1) for states in swapped[1:]]
        return torch.nn.functional.scaled_dot_product_attention(*swapped, is_causal=True).transpose(1, 2)
    causal, debug = True, False
    flat = [states.flatten(0, 1).to(torch.bfloat16) for states in (query, key, value)]
    starts = _starts(position_ids)
    longest = int(starts.diff().max())
    out = torch.ops.aten._flash_attention_forward(  # noqa: SLF001 - the public wrapper's signature differs by version
        *flat, starts, starts, longest, longest, 0.0, causal, debug, scale=kwargs.get("softmax_scale")
    )[0]
    return out.view(query.shape)


def attention(
    _module: Any, query: Any, key: Any, value: Any, _mask: Any, scaling: float | None = None, **kwargs: Any
) -> Any:
    """transformers' attention interface over torch's kernel, inside verl's own exchange between the ranks of a sequence."""
    from verl.models.transformers import monkey_patch

    swapped = [states.transpose(1, 2) for states in (query, key, value)]
    exchange = monkey_patch._ulysses_flash_attention_forward  # noqa: SLF001 - verl has no public name for it
    positions = kwargs["position_ids"]
    return exchange(*swapped, None, query.shape[2], position_ids=positions, softmax_scale=scaling), None


def register() -> str:
    """Makes the attention known to transformers; the name to configure."""
    if installed():
        return "flash_attention_2"
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
    from verl.models.transformers import monkey_patch

    monkey_patch._flash_attention_forward = kernel  # noqa: SLF001 - what verl's exchange calls
    ALL_ATTENTION_FUNCTIONS.register(NAME, attention)
    ALL_MASK_ATTENTION_FUNCTIONS.register(NAME, lambda *_args, **_kwargs: None)
    return NAME


def cross_entropy() -> ModuleType | None:
    """flash-attn's cross-entropy out of the named file; None where none is named."""
    path = os.environ.get(CROSS_ENTROPY)
    if not path:
        return None
    spec = importlib.util.spec_from_file_location("calibration_cross_entropy", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def use_cross_entropy(wanted: bool) -> bool:  # noqa: FBT001 - one switch
    """Switches verl between flash-attn's cross-entropy and torch's log_softmax; what is in use after that."""
    from verl.utils import torch_functional

    if wanted and not torch_functional.FLAH_ATTN_CROSS_ENTROPY_LOSS_AVAILABLE:
        module = cross_entropy()
        if module is not None:
            torch_functional.cross_entropy_loss = module.cross_entropy_loss
            torch_functional.FLAH_ATTN_CROSS_ENTROPY_LOSS_AVAILABLE = True
    os.environ["VERL_DISABLE_FLASH_ATTN_CE"] = "0" if wanted else "1"
    return bool(wanted and torch_functional.FLAH_ATTN_CROSS_ENTROPY_LOSS_AVAILABLE)
