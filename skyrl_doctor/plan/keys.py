"""Canonical keys that no RunConfig has: what other dialects say and RunConfig says in another way.

They stand beside the dotted names of RunConfig in Plan.values.
"""

EXTRA = {
    "data.max_sequence_tokens": "tokens of prompt and response together that are trained on (prime-rl)",
    "data.train_batch_rollouts": "rollouts a training step, all trajectories together (prime-rl)",
    "agent.trajectories": "trajectories a prompt, where the agent says so apart from rollout.n (SkyRL-agent)",
    "agent.max_response_tokens": "tokens of a whole trajectory after the prompt, where the agent says so itself (SkyRL-agent)",
    "trainer.use_v1": "whether verl's V1 trainer runs",
    "trainer.wandb_offline": "whether wandb keeps its records on disk",
    "rollout.engine": "vllm, sglang or another",
    "deployment.inference_gpus": "GPUs for inference alone (prime-rl)",
    "deployment.trainer_gpus": "GPUs for training alone (prime-rl)",
    "agent.enable_thinking": "whether the chat template opens a thinking block (SkyRL-agent)",
}
