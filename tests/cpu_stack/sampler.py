"""Our sampler, which also writes down which prompts it takes: a line for each batch, in the job directory."""

import json
import os
from pathlib import Path

from cpu_stack.run import BROKEN, TAKEN
from skyrl_train.contracts.files import append_line
from skyrl_train.rl import ends, transfer
from skyrl_train.rl.prompts import Tags
from skyrl_train.rl.sampler import Sampler
from skyrl_train.rl.trained import group_of
from skyrl_train.rl.transfer import TRAIN


class RecordingSampler(Sampler):
    def _finished(self, step: int, partition_id: str, batch_size: int) -> tuple[list[str], Tags]:
        groups, tags = super()._finished(step, partition_id, batch_size)
        if partition_id == TRAIN:
            rows = {group_of(key): tag["row"] for key, tag in ends.written(transfer.tags(ends.PARTITION)).items()}
            asked = {key: tag["global_steps"] for key, tag in tags.items() if tag.get("is_prompt")}
            found = {"step": step, "taken": {group: rows[group] for group in groups}, "asked": asked}
            append_line(str(Path(os.environ[BROKEN]).with_name(TAKEN)), json.dumps(found) + "\n")
        return groups, tags
