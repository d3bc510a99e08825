"""What a GPU has to show: our trainer against plain `verl.trainer.main_ppo`, a large LoRA beside vLLM, a toy that learns.

    python -m benchmarks.training_gpu --folder /tmp/proof --out results [--case 0.5b] [--together] [--dry-run]

Run it in a checkout on a node with one GPU, in an environment with `skyrl-doctor[train]`; where there is no network
contrib/offline-node packs one. What is seen is written down at once (results.jsonl, memory.jsonl, a log for each run), so
that what was measured stays whatever happens to the rest. See docs/training.md.
"""
