"""Sends random weights from one process to others on other GPUs, as a sync of separate_async does, and compares what arrived.

    python -m benchmarks.training_gpu.send [--gpus 2] [--gib 1] [--bucket-mib 512] [--cpu]

Prints the seconds of each sync: the first one includes NCCL's start.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import sys
import time
from pathlib import Path
from typing import Any

SYNCS = 3
LIMIT_S = 300.0
CPU = {"VERL_USE_EXTERNAL_MODULES": "cpu_stack.device", "VERL_PLATFORM": "cpu"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gpus", type=int, default=2)
    parser.add_argument("--gib", type=float, default=1.0)
    parser.add_argument("--bucket-mib", type=float, default=512.0)
    parser.add_argument("--cpu", action="store_true", help="gloo between processes")
    args = parser.parse_args()
    if args.cpu:
        sys.path.append(str(Path(__file__).parents[2] / "tests"))
        os.environ.update(CPU)
    context = multiprocessing.get_context("spawn")
    addresses, answers = context.Queue(), context.Queue()
    words = (args.gpus, int(args.gib * 2**30), int(args.bucket_mib * 2**20), addresses, answers)
    children = [context.Process(target=rank_of, args=(rank, *words), daemon=True) for rank in range(args.gpus)]
    for child in children:
        child.start()
    for _ in range(args.gpus - 1):
        found = answers.get(timeout=LIMIT_S)
        sys.stdout.write(json.dumps(found) + "\n")
        if not found["equal"]:
            return 1
    for child in children:
        child.join(10.0)
    return 0


def rank_of(rank: int, gpus: int, size: int, bucket: int, addresses: Any, answers: Any) -> None:
    """The trainer's first rank is 0. The others stand for GPUs of model servers."""
    import ray
    from verl.utils.device import get_device_id, get_device_name, get_torch_device

    ray.util.get_node_ip_address = lambda: "127.0.0.1"  # there is no Ray here
    from skyrl_train.rl.weight_sender import WeightSender

    get_torch_device().set_device(rank)
    sender = WeightSender(bucket_size=bucket, is_master=rank == 0)
    address = sender.prepare()
    for _ in range(gpus - 1 if rank == 0 else 0):
        addresses.put(address)
    address = address or addresses.get()
    first, others = WeightSender.build_topology(1, gpus - 1, [address])
    words = {name: [*first[name], *others[name]][rank] for name in first}
    device, seconds, equal = f"{get_device_name()}:{get_device_id()}", [], True
    for number in range(SYNCS):
        expected = weights_of(number, size, device)
        began = time.monotonic()
        sender.init_process_group(**words)
        if rank == 0:
            asyncio.run(sender.send_weights(iter(expected.items())))
        else:
            equal = asyncio.run(received(sender, expected)) and equal
        seconds.append(round(time.monotonic() - began, 3))
        sender.finalize()
    if rank:
        answers.put({"rank": rank, "equal": bool(equal), "seconds": seconds})
    else:
        time.sleep(5.0)  # it has the store, which the others may still read


def weights_of(seed: int, size: int, device: str) -> dict[str, Any]:
    """Tensors of several types and sizes, the first of which is larger than a bucket may be."""
    import torch

    torch.manual_seed(seed)
    made = {
        "large": torch.randn(size // 8, dtype=torch.float32),
        "odd": torch.randn(7, 3, dtype=torch.float32),
        "half": torch.randn(3).bfloat16(),
        "number": torch.tensor(float(seed)),
    }
    rest = size // 2 // 16
    made |= {f"layer {number}": torch.randn(max(rest // 2, 1)).bfloat16() for number in range(16)}
    return {name: tensor.to(device) for name, tensor in made.items()}


async def received(sender: Any, expected: dict[str, Any]) -> bool:
    import torch

    names = []
    async for name, tensor in sender.receive_weights():
        names.append(name)
        if tensor.dtype != expected[name].dtype or not torch.equal(tensor, expected[name]):
            return False
    return names == list(expected)


if __name__ == "__main__":
    sys.exit(main())
