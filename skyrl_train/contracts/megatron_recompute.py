"""The settings with which Megatron computes each layer again in the backward pass, and verl's tables of them."""

GRANULARITY, METHOD, LAYERS = "recompute_granularity", "recompute_method", "recompute_num_layers"
FULL_RECOMPUTE = {GRANULARITY: "full", METHOD: "uniform", LAYERS: "1"}
"""Megatron refuses the first without the others (megatron/core/transformer/transformer_config.py __post_init__)."""


def transformer_table(section: str) -> str:
    """verl's table of Megatron's own settings, of the actor or the critic."""
    return f"{section}.megatron.override_transformer_config"
