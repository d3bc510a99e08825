"""A batch as TransferQueue hands it to verl's workers: nested tensors without padding, random tokens."""

from collections.abc import Sequence
from typing import Any


def nested(rows: Sequence[Any]) -> Any:
    """Rows of several lengths as one jagged tensor; verl's fields are jagged even if all rows are equally long."""
    import torch

    return torch.nested.as_nested_tensor(list(rows), layout=torch.jagged)


def make(lengths: Sequence[tuple[int, int]], vocab: int) -> Any:
    """prompts, responses, input_ids … of the given lengths."""
    import torch
    from verl.utils import tensordict_utils as tu

    generator = torch.Generator().manual_seed(0)
    high = min(vocab, 256)
    prompts = [torch.randint(0, high, (prompt,), generator=generator) for prompt, _ in lengths]
    responses = [torch.randint(0, high, (response,), generator=generator) for _, response in lengths]
    masks = [torch.ones_like(row) for row in responses]
    fields = {
        "prompts": nested(prompts),
        "responses": nested(responses),
        "response_mask": nested(masks),
        "loss_mask": nested(masks),
        "input_ids": nested([torch.cat(pair) for pair in zip(prompts, responses, strict=True)]),
        "position_ids": nested([torch.arange(prompt + response) for prompt, response in lengths]),
    }
    return tu.get_tensordict(fields)


def with_info(batch: Any, **info: Any) -> Any:
    """A copy of the batch with what the trainer puts in its extra_info."""
    from verl.utils import tensordict_utils as tu

    copied = batch.copy()
    tu.assign_non_tensor(copied, **info)
    return copied


def advantages(batch: Any) -> Any:
    """One random advantage a sample, over its tokens."""
    import torch

    generator = torch.Generator().manual_seed(1)
    rows = batch["responses"].unbind()
    return nested([torch.full(row.shape, float(torch.randn((), generator=generator))) for row in rows])
