"""FlashAttention is requested, but its package is not installed.

## What it does
Finds transformers' refusal to load a model because the package of the requested attention is missing, and imports of
`flash_attn` that fail.

## Why it breaks training
verl, SkyRL and many scripts ask transformers for `flash_attention_2`. verl also imports `flash_attn` to remove padding.
The package is compiled against one version of torch and CUDA, so it is missing after many an upgrade.

## How to fix
Install flash-attn for the installed torch, or request torch's own attention with `attn_implementation=sdpa` and turn
off the removal of padding.

## Example
    ImportError: FlashAttention2 has been toggled on, but it cannot be used due to the following error
"""

from skyrl_doctor.core.signature import Signature

INSTALL = "Install it for this torch: `pip install flash-attn --no-build-isolation`."

SIGNATURES = (
    Signature(
        pattern=r"Flash ?Attention(?:[ -]?\d)?:? has been toggled on, but it cannot be used",
        sample="ImportError: FlashAttention2 has been toggled on, but it cannot be used due to the following error: the package for FlashAttention2 doesn't seem to be installed.",
        explain="the run asks transformers for FlashAttention, and its package is not installed or does not fit",
        remedy=f"{INSTALL} Or request torch's own attention: `attn_implementation=sdpa` (verl: `+actor_rollout_ref.model.override_config.attn_implementation=sdpa`, but its value models need flash-attn).",
        versions="transformers",
        unless_above=r"\bload_valuehead_model\b",  # TRN020: verl's critic asks for it in any case
    ),
    Signature(
        pattern=r"(?:ModuleNotFoundError|ImportError): No module named '(?P<module>flash_attn(?!_2_cuda)\w*)[.\w]{0,80}'",
        sample="ModuleNotFoundError: No module named 'flash_attn'",
        explain="the code imports {module}, which is not installed",
        remedy=f"{INSTALL} {{verl:verl imports it to remove padding: without it set `use_remove_padding` to false and|Or set}} `attn_implementation=sdpa`.",
        versions="verl, transformers",
        last_resort=True,
    ),
    Signature(
        pattern=r"Error: .{0,200}(?:not found in your environment: [\w, ]{0,80}\bflash_attn\b|\b[Ff]lash[_ -]?[Aa]tt(?:ention|n)(?:[ _-]?\d)? (?:package )?(?:is|was) not (?:installed|found)\b)",
        sample="ImportError: This modeling file requires the following packages that were not found in your environment: flash_attn. Run `pip install flash_attn`",
        explain="the model's code needs FlashAttention, and its package is not installed",
        remedy=INSTALL,
        versions="transformers",
        last_resort=True,
    ),
    Signature(
        pattern=r"\b(?:NotImplemented|Import|Runtime|Value)Error: (?:[\w ]{1,60} requires Flash Attention enabled models|Flash ?Attention[- ]?(?:V?\d )?is not (?:installed|available))\b",
        sample="NotImplementedError: Sharded Llama requires Flash Attention enabled models.",
        explain="the model server runs this model only with FlashAttention, which did not load: its package is missing, or does not support this GPU",
        remedy="A warning above this line (`Could not import Flash Attention enabled models`) has the reason. Use the official image of the server, or install flash-attn for this torch. On a GPU older than Turing or Ampere use another model server.",
        versions="TGI, LoRAX",
    ),
)
