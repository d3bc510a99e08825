"""Merges the shards of a role and writes a Hugging Face model. Run by path: ROLE_DIRECTORY TARGET bf16|fp32.

Prints {"tensors": …, "adapters": …}. Needs torch, transformers and safetensors, memory for the weights twice, and no GPU.
Only tensors are loaded (weights_only): no code in a checkpoint is run.
"""

import json
import os
import re
import shutil
import sys

import torch
from torch.distributed.tensor import DTensor
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForTokenClassification

DTYPES = {"bf16": torch.bfloat16, "fp32": torch.float32}
PREFIX = "base_model.model."
ADAPTER = re.compile(r"(.+)\.lora_(A|B)\.[^.]+\.weight")
SHARD = re.compile(r"model_world_size_(\d+)_rank_(\d+)\.pt")
Tensors = dict[str, torch.Tensor]


def main(role: str, target: str, dtype: str) -> int:
    weights, adapters = with_adapter(merged_weights(role), alpha_of(role))
    files = os.path.join(role, "huggingface")
    config = AutoConfig.from_pretrained(files)
    kind = (
        AutoModelForTokenClassification if "TokenClassification" in str(config.architectures) else AutoModelForCausalLM
    )
    with torch.device("meta"):
        model = kind.from_config(config)
    cast = {
        name: weight.to(DTYPES[dtype]) if weight.is_floating_point() else weight for name, weight in weights.items()
    }
    lacking, strange = model.load_state_dict(cast, strict=False, assign=True)
    model.tie_weights()
    empty = [name for name, parameter in model.named_parameters() if parameter.is_meta]
    if empty or strange:
        raise SystemExit(
            f"the checkpoint does not match its config.json: missing {empty[:3]}, unexpected {strange[:3]}"
        )
    del lacking  # tied parameters
    model.config.dtype = DTYPES[dtype]
    model.save_pretrained(target)
    for name in os.listdir(files):
        if not os.path.exists(os.path.join(target, name)) and not name.endswith((".safetensors", ".bin")):
            shutil.copy(os.path.join(files, name), target)
    print(json.dumps({"tensors": len(cast), "adapters": adapters}))  # noqa: T201 -- the answer to the parent
    return 0


def merged_weights(role: str) -> Tensors:
    """The merged weights of all ranks."""
    ranks = {int(found[2]): name for name in os.listdir(role) if (found := SHARD.fullmatch(name))}
    parts = [
        torch.load(os.path.join(role, ranks[rank]), map_location="cpu", weights_only=True, mmap=True)
        for rank in sorted(ranks)
    ]
    return {name: joined(name, [part[name] for part in parts]) for name in parts[0]}


def joined(name: str, parts: list[torch.Tensor]) -> torch.Tensor:
    """One tensor made of its shards. If ranks hold copies (HSDP), only the first set counts."""
    first = parts[0]
    if not isinstance(first, DTensor):
        return first
    shards = [placement for placement in first.placements if placement.is_shard()]
    if any(placement.is_partial() for placement in first.placements) or len(shards) > 1:
        raise SystemExit(f"{name} has the placement {first.placements}; expected shards along one dimension")
    if not shards:
        return first.to_local()
    count = first.device_mesh.mesh.shape[-1]
    return torch.cat([part.to_local() for part in parts[:count]], dim=shards[0].dim)


def alpha_of(role: str) -> float | None:
    """The scale of the adapter, which verl writes next to the shards; None if none was trained."""
    try:
        with open(os.path.join(role, "lora_train_meta.json"), encoding="utf-8") as file:
            return float(json.load(file)["lora_alpha"])
    except FileNotFoundError:
        return None


def with_adapter(weights: Tensors, alpha: float | None) -> tuple[Tensors, int]:
    """The weights with the adapter merged in float32 (W + alpha / r * B A, like peft's merge_and_unload), by model name."""
    halves = {name: found for name in weights if (found := ADAPTER.fullmatch(name))}
    if not halves:
        return weights, 0
    if alpha is None:
        raise SystemExit("the checkpoint has an adapter but no lora_train_meta.json, so lora_alpha is unknown")
    plain = {name: weight for name, weight in weights.items() if name not in halves}
    strange = [name for name in plain if ".lora_" in name]
    if strange or len(plain) == 0:
        raise SystemExit(
            f"{strange[0]} is not a plain LoRA adapter"
            if strange
            else "the checkpoint holds only the adapter, without the base model"
        )
    for name, found in halves.items():
        if found[2] == "B":
            continue
        down, up = weights[name].float(), weights[name.replace(".lora_A.", ".lora_B.")].float()
        base = f"{found[1]}.base_layer.weight"
        plain[base] = (plain[base].float() + alpha / down.shape[0] * up @ down).to(plain[base].dtype)
    return {name.removeprefix(PREFIX).replace(".base_layer.", "."): one for name, one in plain.items()}, len(
        halves
    ) // 2


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
