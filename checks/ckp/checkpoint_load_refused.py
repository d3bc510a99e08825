"""torch refuses to load a checkpoint that holds more than tensors.

## What it does
Finds torch's error "Weights only load failed" and names the class that it refused.

## Why it breaks training
Since torch 2.6, `torch.load` reads only tensors and plain data by default. A checkpoint with the state of
numpy's generator, an optimizer of DeepSpeed or an OmegaConf object, written by an older version, cannot be resumed.

## How to fix
If you trust the file: allow the class with `torch.serialization.add_safe_globals`, or set
`TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD=1` for this run, or update the framework.

## Example
    _pickle.UnpicklingError: Weights only load failed.
"""

from skyrl_doctor.core.signature import Signature

SIGNATURES = (
    Signature(
        pattern=r"\bSize mismatch between saved torch\.Size\((?P<saved>\[[\d, ]{0,60}\])\) and current: torch\.Size\((?P<current>\[[\d, ]{0,60}\])\) for (?P<name>[\w.]{1,200})",
        sample="ValueError: Size mismatch between saved torch.Size([151936, 896]) and current: torch.Size([68067328]) for model.embed_tokens.weight",
        explain="the checkpoint's `{name}` has the shape {saved} and the model's {current}",
        remedy="One number against several: it was saved with another sharding (FSDP1, FSDP2 or none); load it with the one that saved it. Another first number: the vocabulary was resized. All numbers differ: it is of another model.",
        versions="torch",
    ),
    Signature(
        pattern=r"\bWeights only load failed\b|\btypes accepted by default with weights_only\b",
        sample="_pickle.UnpicklingError: Weights only load failed. This file can still be loaded, to do so you have two options",
        explain="torch 2.6 and newer refuse this checkpoint: it holds Python objects besides tensors",
        remedy="If you wrote the file yourself: set `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD=1` for this run, or allow the class that the line `Unsupported global` below names with `torch.serialization.add_safe_globals`. Update the framework: newer versions pass weights_only=False themselves. Do not load files of others this way: they can run code.",
        versions="torch >= 2.6",
    ),
    Signature(
        pattern=r"\bWeightsUnpickler error: Unsupported (?:global|class|operand)\b(?:: GLOBAL (?P<name>[\w.]{1,200}))?",
        sample="WeightsUnpickler error: Unsupported global: GLOBAL numpy.core.multiarray._reconstruct was not an allowed global by default.",
        explain="torch refuses this checkpoint: it holds an object of `{name}`",
        remedy="If you wrote the file yourself: set `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD=1` for this run, or call `torch.serialization.add_safe_globals([{name}])` before it is loaded.",
        versions="torch >= 2.4",
    ),
)
