# ruff: noqa: E402, TID253, T201 -- a program of its own: the environment comes before the imports, the answer is printed
"""Programs of the lane, each in a process of its own: verl's actor on a CPU, one rank, a tiny Qwen2.

verl_actor.py save ROOT STEP STRATEGY RANK     verl's trainer saves a step; expected.pt holds what a merge must give
verl_actor.py sync STRATEGY load|adapter       what verl collects of a LoRA adapter for vLLM: names and shapes
"""

import json
import os
import sys
import warnings
from types import SimpleNamespace
from typing import Any

warnings.simplefilter("ignore")
os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0", RANK="0", WORLD_SIZE="1")

import torch
import torch.distributed as dist
from omegaconf import OmegaConf
from peft import LoraConfig, get_peft_model
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullStateDictConfig, FullyShardedDataParallel, StateDictType
from transformers import Qwen2Config, Qwen2ForCausalLM
from verl.utils import fsdp_utils

SEED = 3


def model(rank: int) -> Any:
    torch.manual_seed(SEED)
    made = Qwen2ForCausalLM(
        Qwen2Config(
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=1,
            vocab_size=512,
        )
    )
    if not rank:
        return made
    made = get_peft_model(made, LoraConfig(task_type="CAUSAL_LM", r=rank, lora_alpha=16, target_modules="all-linear"))
    for name, parameter in made.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter)
    return made


def sharded(made: Any, strategy: str, *, lora: bool) -> Any:
    """As verl's engine wraps it (workers/engine/fsdp/transformer_impl.py _build_fsdp_module), without a GPU."""
    mesh = init_device_mesh("cpu", (1,), mesh_dim_names=("fsdp",))
    if strategy == "fsdp2":
        fsdp_utils.apply_fsdp2(made, {"mesh": mesh, "offload_policy": None, "reshard_after_forward": True}, {})
        return made
    policy = fsdp_utils.get_fsdp_wrap_policy(module=made, config=None, is_lora=lora)
    made = FullyShardedDataParallel(
        made, auto_wrap_policy=policy, device_mesh=mesh, device_id=torch.device("cpu"), use_orig_params=False
    )
    FullyShardedDataParallel.set_state_dict_type(made, StateDictType.FULL_STATE_DICT, FullStateDictConfig())
    return made


def save(root: str, step: str, strategy: str, rank: str) -> None:
    from verl.trainer.ppo.checkpoint_callback import CheckpointCallback
    from verl.trainer.ppo.v1.trainer_base import PPOTrainer
    from verl.utils.checkpoint.fsdp_checkpoint_manager import FSDPCheckpointManager

    made = model(int(rank))
    plain = model(int(rank)).merge_and_unload() if int(rank) else made
    torch.save({name: weight.clone() for name, weight in plain.state_dict().items()}, f"{root}/expected.pt")
    wrapped = sharded(made, strategy, lora=bool(int(rank)))
    optimizer = torch.optim.AdamW([one for one in wrapped.parameters() if one.requires_grad], lr=0.0, weight_decay=0.0)
    ids = torch.ones(1, 4, dtype=torch.long)
    wrapped(input_ids=ids, labels=ids).loss.backward()
    optimizer.step()
    schedule = torch.optim.lr_scheduler.ConstantLR(optimizer)
    manager = FSDPCheckpointManager(model=wrapped, optimizer=optimizer, lr_scheduler=schedule)

    def of_worker(path: str, _remote: str | None, step: int, max_ckpt_to_keep: int | None) -> None:
        manager.save_checkpoint(path, None, step, max_ckpt_to_keep)

    worker = SimpleNamespace(save_checkpoint=of_worker)
    trainer = {"default_local_dir": root, "default_hdfs_dir": None}
    driver = SimpleNamespace(
        config=OmegaConf.create({"trainer": trainer, "actor_rollout_ref": {"actor": {}}}),
        global_steps=int(step),
        actor_rollout_wg=worker,
        critic_wg=worker,
        use_critic=True,
        train_dataloader=SimpleNamespace(state_dict=lambda: {"_num_yielded": 1}),
        trainer_mode="sync",
        checkpoint_callback=CheckpointCallback(),
    )
    PPOTrainer._save_checkpoint(driver)
    manager.load_checkpoint(f"{root}/global_step_{step}/actor")


def sync(strategy: str, load_format: str) -> None:
    """verl's update_weights: the base first where vLLM began with dummy weights, then the adapter."""
    fsdp_utils.get_torch_device = lambda: SimpleNamespace(empty_cache=lambda: None)
    wrapped = sharded(model(8).bfloat16(), strategy, lora=True)
    base = fsdp_utils.collect_lora_params(wrapped, False, False) if load_format == "dummy" else {}
    adapter = fsdp_utils.collect_lora_params(wrapped, layered_summon=False, base_sync_done=True)
    torch.save(adapter, "adapter.pt")
    print(json.dumps({"base": len(base), "adapter": {name: list(one.shape) for name, one in adapter.items()}}))


if __name__ == "__main__":
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    {"save": save, "sync": sync}[sys.argv[1]](*sys.argv[2:])
    dist.destroy_process_group()
