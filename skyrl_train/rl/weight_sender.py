"""Sends the trainer's weights to model servers on other GPUs: a program for verl's `checkpoint_engine`, by torch alone.

verl's own programs for it need CuPy, NIXL or Mooncake. Here the trainer's first rank and each GPU of the servers form a group
of torch.distributed: NCCL between GPUs, gloo between CPUs. Weights are packed into a bucket, which is broadcast. What it
holds is said before, in a store of the first rank.
"""

import json
from collections.abc import AsyncIterator, Iterable
from datetime import timedelta
from typing import Any

import ray
import torch
from torch import distributed
from verl.checkpoint_engine.base import (
    CheckpointEngine,
    CheckpointEngineRegistry,
    TensorMeta,
    merge_weight_chunks,
    split_weight_chunks,
)
from verl.utils.device import get_device_id, get_device_name, get_torch_device

from skyrl_train.config.rollout_gpus import SENDER

LIMIT = timedelta(minutes=30)
"""Of each wait. The time limit of the phase ends the run before."""
ALIGNED = 16
"""Bytes: each tensor begins at a multiple, or it could not be viewed in its own type."""

Address = tuple[str, int]


@CheckpointEngineRegistry.register(SENDER)
class WeightSender(CheckpointEngine):
    """verl makes one in each process of the trainer, and one for each GPU of the model servers."""

    def __init__(self, bucket_size: int, is_master: bool = False) -> None:  # noqa: FBT001, FBT002 -- verl's signature
        self._size = bucket_size
        self._store: Any = None
        self._address: Address | None = None
        if is_master:
            host = ray.util.get_node_ip_address().strip("[]")
            self._store = distributed.TCPStore(host, 0, is_master=True, wait_for_workers=False, timeout=LIMIT)
            self._address = (host, self._store.port)
        self._rank = -1
        self._group: Any = None
        self._bucket: Any = None
        self._syncs = 0
        self._said: list[str] = []

    def prepare(self) -> Any:
        return self._address

    @classmethod
    def build_topology(
        cls, actor_wg_world_size: int, rollout_world_size: int, metadata: list[Any]
    ) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
        """The arguments of `init_process_group` in each process. Rank -1 takes no part."""
        size = 1 + rollout_world_size

        def words(ranks: list[int]) -> dict[str, list[Any]]:
            return {"rank": ranks, "size": [size] * len(ranks), "address": [metadata[0]] * len(ranks)}

        return words([0] + [-1] * (actor_wg_world_size - 1)), words(list(range(1, size)))

    def init_process_group(self, rank: int, size: int, address: Address) -> None:
        """Once: the group stays for the whole run."""
        self._rank = rank
        if rank < 0 or self._group is not None:
            return
        if self._store is None:
            self._store = distributed.TCPStore(*address, is_master=False, timeout=LIMIT)
        self._group = group_of(distributed.PrefixStore("group", self._store), rank, size)

    def finalize(self) -> None:
        """verl calls it when all servers have the weights."""
        for key in self._said:
            self._store.delete_key(key)
        self._said, self._bucket = [], None
        get_torch_device().empty_cache()

    async def send_weights(self, weights: Iterable[tuple[str, torch.Tensor]], global_steps: int | None = None) -> None:
        del global_steps
        if self._rank < 0:
            for _ in weights:  # all ranks must take part, since each weight is gathered from them
                pass
            return
        self._begin()
        listed: list[TensorMeta] = []
        end = number = 0
        with torch.no_grad():
            async for meta, chunk in split_weight_chunks(weights, self._size):
                begin = -(-end // ALIGNED) * ALIGNED
                if listed and begin + meta.chunk_size > self._size:
                    self._send(number, listed, end, is_last=False)
                    listed, begin, number = [], 0, number + 1
                meta.offset, end = begin, begin + meta.chunk_size
                self._bucket[begin:end].copy_(chunk)
                listed.append(meta)
        self._send(number, listed, end, is_last=True)

    async def receive_weights(self, global_steps: int | None = None) -> AsyncIterator[tuple[str, torch.Tensor]]:
        del global_steps
        self._begin()
        async for name, weight in merge_weight_chunks(self._chunks(), self._size):
            yield name, weight

    async def _chunks(self) -> AsyncIterator[tuple[TensorMeta, torch.Tensor]]:
        number, is_last = 0, False
        while not is_last:
            said = json.loads(self._store.get(self._key(number)))
            self._broadcast(said["bytes"])
            for meta in map(read, said["tensors"]):
                yield meta, self._bucket[meta.offset : meta.offset + meta.chunk_size]
            number, is_last = number + 1, said["is_last"]

    def _begin(self) -> None:
        self._syncs += 1
        self._bucket = torch.empty(self._size, dtype=torch.uint8, device=f"{get_device_name()}:{get_device_id()}")

    def _send(self, number: int, listed: list[TensorMeta], size: int, *, is_last: bool) -> None:
        self._said.append(self._key(number))
        said = {"tensors": list(map(written, listed)), "bytes": size, "is_last": is_last}
        self._store.set(self._said[-1], json.dumps(said))
        self._broadcast(size)

    def _key(self, number: int) -> str:
        return f"{self._syncs}/{number}"

    def _broadcast(self, size: int) -> None:
        options = distributed.BroadcastOptions()
        options.rootRank = 0
        self._group.broadcast([self._bucket[:size]], options).wait()
        get_torch_device().synchronize()  # NCCL's `wait` only queues


def group_of(store: distributed.Store, rank: int, size: int) -> Any:
    """A group beside that of the trainer's ranks."""
    if get_device_name() == "cpu":
        return distributed.ProcessGroupGloo(store, rank, size, LIMIT)
    options = distributed.ProcessGroupNCCL.Options()
    options._timeout = LIMIT  # noqa: SLF001 -- the name that torch documents for it
    return distributed.ProcessGroupNCCL(store, rank, size, options)


def written(meta: TensorMeta) -> list[Any]:
    """As JSON."""
    dtype = str(meta.dtype).removeprefix("torch.")
    return [meta.name, list(meta.shape), dtype, meta.chunk_offset, meta.chunk_size, meta.offset]


def read(values: list[Any]) -> TensorMeta:
    name, shape, dtype, chunk_offset, chunk_size, offset = values
    return TensorMeta(
        name=name,
        shape=torch.Size(shape),
        dtype=getattr(torch, dtype),
        chunk_offset=chunk_offset,
        chunk_size=chunk_size,
        offset=offset,
    )
