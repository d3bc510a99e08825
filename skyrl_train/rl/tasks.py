"""The training tasks as a data set for verl: published or converted rows, read without a cache on disk."""

from collections.abc import Mapping
from typing import Any

import torch
from torch.utils.data import Dataset

from skyrl_train.contracts.errors import UsageError
from skyrl_train.tasks.training_rows import rows_in


class Tasks(Dataset):
    """verl loads it by `data.custom_cls`. Prompts that are too long are left out; UsageError for an invalid row."""

    def __init__(
        self, data_files: Any, tokenizer: Any, config: Any, processor: Any = None, max_samples: int = -1
    ) -> None:
        del processor
        paths = [data_files] if isinstance(data_files, str) else list(data_files)
        rows = [row for path in paths for row in rows_in(path)]
        kept = [row for row in rows if _length(tokenizer, row, config.prompt_key) <= config.max_prompt_length]
        if paths and not kept:
            raise UsageError(
                f"{paths[0]}: none of {len(rows)} prompts has at most {config.max_prompt_length} tokens; raise data.max_prompt_tokens"
            )
        if paths == list(config.train_files) and len(kept) < config.train_batch_size:
            raise UsageError(
                f"{paths[0]}: {len(kept)} usable tasks, but data.train_batch_size is {config.train_batch_size}"
            )
        self._rows = kept[:max_samples] if max_samples > 0 else kept
        self._prompt_key = config.prompt_key

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, number: int) -> dict[str, Any]:
        row = self._rows[number]
        return {
            "raw_prompt": row[self._prompt_key],
            "data_source": row["data_source"],
            "reward_model": row["reward_model"],
            "extra_info": row["extra_info"],
            "agent_name": row["agent_name"],
            "index": number,
            "dummy_tensor": torch.tensor([0], dtype=torch.uint8),  # verl takes the length of a batch from a tensor
        }


def _length(tokenizer: Any, row: Mapping[str, Any], prompt_key: str) -> int:
    text = tokenizer.apply_chat_template(list(row[prompt_key]), tokenize=False, add_generation_prompt=True)
    return len(tokenizer.encode(text, add_special_tokens=False))
