"""Our trainer against plain `verl.trainer.main_ppo` on one GPU: same model, prompts, lengths and settings.

    python -m benchmarks.training_gpu --out results.jsonl --folder /tmp/proof [--case 0.5b] [--dry-run]

Run it on a node with a GPU, in an environment with `skyrl-doctor[train]`; where there is no network contrib/offline-node packs
one. Each run adds a line to --out when it ends, so that what was measured stays whatever happens to the rest.
"""
