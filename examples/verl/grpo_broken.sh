#!/bin/bash
# Three prompts with three rollouts each on two GPUs, an old key, and a comment that ends the command.
set -x
N=3
python3 -m verl.trainer.main_ppo \
    algorithm.adv_estimator=grpo \
    data.train_batch_size=$N \
    data.max_prompt_length=4096 \
    data.max_response_length=1024 \
    actor_rollout_ref.model.path=Qwen/Qwen2.5-Coder-0.5B-Instruct \
    actor_rollout_ref.actor.ppo_mini_batch_size=4 \
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 \
    actor_rollout_ref.rollout.name=vllm \
    actor_rollout_ref.rollout.n=$((N)) \
    actor_rollout_ref.rollout.max_model_len=4096 \
    actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=1 \
    ray_init.num_cpus=8 \
    trainer.n_gpus_per_node=2 \
    # trainer.save_freq=1 \
    trainer.total_epochs=1
