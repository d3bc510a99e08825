"""The tags and keys of a partition of TransferQueue, in which verl keeps prompts and rows."""

import transfer_queue

from skyrl_train.rl.prompts import Tags

TRAIN = "train"


def tags(partition: str) -> Tags:
    found: Tags = (transfer_queue.kv_list(partition) or {}).get(partition, {})
    return found


def clear(partition: str, keys: list[str]) -> None:
    if keys:
        transfer_queue.kv_clear(keys=keys, partition_id=partition)
