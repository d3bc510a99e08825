#!/bin/bash
#SBATCH --partition=gpu_test
#SBATCH --gres=gpu:1
#SBATCH --time=6:00:00
# The command line of verl 0.9 for the 20 GB slice.
set -euo pipefail

MODEL="${MODEL:-Qwen/Qwen2.5-Coder-0.5B-Instruct}"
MAX_PROMPT=2048
MAX_RESPONSE=2048
MAX_MODEL_LEN=$((MAX_PROMPT + MAX_RESPONSE))
export VLLM_WORKER_MULTIPROC_METHOD=spawn

DATA=(
  data.train_files="['data/train.parquet']"
  data.val_files="['data/val.parquet']"
  data.train_batch_size=1
  data.max_prompt_length=$MAX_PROMPT
  data.max_response_length=$MAX_RESPONSE
)

python3 -m verl.trainer.main_ppo \
    algorithm.adv_estimator=grpo \
    "${DATA[@]}" \
    actor_rollout_ref.model.path="$MODEL" \
    actor_rollout_ref.model.use_remove_padding=False \
    +actor_rollout_ref.model.override_config.attn_implementation=sdpa \
    actor_rollout_ref.actor.ppo_mini_batch_size=1 \
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 \
    actor_rollout_ref.actor.fsdp_config.param_offload=True \
    actor_rollout_ref.actor.fsdp_config.optimizer_offload=True \
    actor_rollout_ref.rollout.name=vllm \
    actor_rollout_ref.rollout.n=2 \
    actor_rollout_ref.rollout.tensor_model_parallel_size=1 \
    actor_rollout_ref.rollout.max_model_len=$MAX_MODEL_LEN \
    actor_rollout_ref.rollout.gpu_memory_utilization=0.5 \
    actor_rollout_ref.rollout.enforce_eager=True \
    actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=1 \
    trainer.logger=console \
    trainer.n_gpus_per_node=1 \
    trainer.total_epochs=1 \
    trainer.save_freq=1 "$@" 2>&1 | tee train.log
