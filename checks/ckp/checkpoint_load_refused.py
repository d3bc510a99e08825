"""torch refuses to load a checkpoint: it is damaged, holds more than tensors, or is of another model.

## What it does
Finds torch's error "Weights only load failed" and names the class that it refused. Finds "size mismatch for" and "Error(s) in
loading state_dict", and names the weight with both shapes. Finds checkpoints that are damaged.

## Why it breaks training
Since torch 2.6, `torch.load` reads only tensors and plain data by default. A checkpoint with the state of
numpy's generator, an optimizer of DeepSpeed or an OmegaConf object, written by an older version, cannot be resumed.

## How to fix
If you trust the file: allow the class with `torch.serialization.add_safe_globals`, or set
`TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD=1` for this run, or update the framework.

Where shapes differ: start with the `config.json` that the weights were saved with.

## Example
    _pickle.UnpicklingError: Weights only load failed.
"""

from skyrl_doctor.core.signature import Signature

_SHAPES = r"copying a param with shape torch\.Size\((?P<saved>\[[\d, ]{0,60}\])\) from checkpoint, the shape in current model is torch\.Size\("
_NAME = r"\bsize mismatch for (?P<name>[\w.]{1,200}): "

SIGNATURES = (
    Signature(
        pattern=rf"{_NAME}{_SHAPES}\[0\]\)",
        sample="size mismatch for model.embed_tokens.weight: copying a param with shape torch.Size([151936, 896]) from checkpoint, the shape in current model is torch.Size([0]).",
        explain="`{name}` is empty in the model: DeepSpeed's ZeRO 3 had divided the weights before the checkpoint of shape {saved} was loaded",
        remedy="Load the weights before `deepspeed.initialize` divides the model, or through the framework's own function for ZeRO 3 (`from_pretrained` with an HfDeepSpeedConfig that is alive).",
        versions="torch, DeepSpeed",
    ),
    Signature(
        pattern=rf"{_NAME}{_SHAPES}(?P<current>\[[\d, ]{{0,60}}\])\)",
        sample="size mismatch for model.norm.weight: copying a param with shape torch.Size([1024]) from checkpoint, the shape in current model is torch.Size([4096]).",
        explain="the checkpoint's `{name}` has the shape {saved}, and that of the model which the configuration builds {current}",
        remedy="Compare the model's `config.json` with that of the run which wrote the checkpoint. Only the first number of the embeddings or of `lm_head` differs: the vocabulary was resized or padded, so resize it before loading. All numbers differ: the checkpoint is of another model.",
        versions="torch",
    ),
    Signature(
        pattern=r"\bRuntimeError: Error\(s\) in loading state_dict for (?P<name>\w{1,120})",
        sample="RuntimeError: Error(s) in loading state_dict for Qwen2ForCausalLM:",
        explain="the checkpoint does not fit the model `{name}`; the lines below name the weights that are missing, unexpected or of another shape",
        remedy="Names with a prefix more or less (`module.`, `base_model.model.`, `_orig_mod.`): remove it, or load through the program that saved them. Other shapes or missing weights: the checkpoint is of another model; compare the two `config.json`.",
        versions="torch",
    ),
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
        explain="torch refuses this checkpoint: it was read with `weights_only=True` (the default since torch 2.6) and holds Python objects besides tensors",
        remedy="If you wrote the file yourself: set `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD=1` for this run, or allow the class that the line `Unsupported global` below names with `torch.serialization.add_safe_globals`. The variable has no effect where the program itself passes `weights_only=True`: then update that program (transformers 4.51 read the state of random numbers so, 4.52 allows it), or remove the file `rng_state*.pth` of your own checkpoint if it is the one refused. Do not load files of others this way: they can run code.",
        versions="torch >= 2.6",
    ),
    Signature(
        pattern=r"\bWeightsUnpickler error: Unsupported (?:global|class|operand)\b(?:: GLOBAL (?P<name>[\w.]{1,200}))?",
        sample="WeightsUnpickler error: Unsupported global: GLOBAL numpy.core.multiarray._reconstruct was not an allowed global by default.",
        explain="torch refuses this checkpoint: it holds an object of `{name}`",
        remedy="If you wrote the file yourself: set `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD=1` for this run, or call `torch.serialization.add_safe_globals([{name}])` before it is loaded.",
        versions="torch >= 2.4",
    ),
    Signature(
        pattern=r"\bPytorchStreamReader failed (?:reading|locating|finding)|\bunexpected EOF, expected \d{1,12} more bytes\. The file might be corrupted|\bstorage has wrong byte size: expected|\bUnpicklingError: pickle data was truncated",
        sample="RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory",
        explain="a file of the checkpoint is damaged or incomplete: it was not written to its end, or copied or downloaded in part",
        remedy="Resume from the checkpoint before it, or copy or download the file again. If the run wrote it: was it ended while it saved, or was the disk full?",
        unless_above=r"multiprocessing/spawn\.py",  # a process that starts, whose parent ended
        versions="torch",
        refines=("ENV010",),
    ),
    Signature(
        pattern=r"(?:UnpicklingError: invalid load key, '(?!v')|\bEOFError: Ran out of input)",
        near=r"torch/serialization\.py|torch\.load\(",
        within=8,
        sample="_pickle.UnpicklingError: invalid load key, '\\x0a'.",
        explain="a file that torch reads as a checkpoint is empty, damaged or of another format",
        remedy="Compare its size (`ls -l`) with the original, and copy or download it again. A file of text is an error page or a git-lfs pointer.",
        versions="torch",
        refines=("ENV010",),
    ),
    Signature(
        pattern=r"\bAttempting to deserialize object on \w{2,10} device \d{1,4} but torch\.\w{2,10}\.device_count\(\) is \d",
        sample="RuntimeError: Attempting to deserialize object on CUDA device 3 but torch.cuda.device_count() is 1. Please use torch.load with map_location to map your storages to an existing device.",
        explain="the checkpoint was saved from a GPU with a number that this process does not have",
        remedy='Load it with `torch.load(FILE, map_location="cpu")`, or start the run on as many GPUs as the one that saved it.',
        versions="torch",
    ),
    Signature(
        pattern=r"\bMissing key in checkpoint state_dict: |\bloaded state dict (?:contains a parameter group that|has a different number of parameter groups)",
        sample="ValueError: loaded state dict contains a parameter group that doesn't match the size of optimizer's group",
        explain="the checkpoint is of another model or another optimizer than this run builds",
        remedy="Start with the model, the adapter and the optimizer of the run that wrote the checkpoint. To keep the weights only, load them without the optimizer's state.",
        versions="torch",
    ),
    Signature(
        pattern=r"\bDue to a serious vulnerability issue in `torch\.load`",
        sample="ValueError: Due to a serious vulnerability issue in `torch.load`, even with `weights_only=True`, we now require users to upgrade torch to at least v2.6 in order to use the function.",
        explain="transformers refuses to read a `.bin` or `.pt` file with a torch older than 2.6",
        remedy="Update torch to 2.6 or newer, or use the model's or checkpoint's safetensors files.",
        versions="transformers",
    ),
    Signature(
        pattern=r"\bGlobal shape mismatch for loaded \((?:torch\.Size\()?\[?(?P<loaded>[\d, ]{1,60}?)\]?\)?\) and expected \(\(?(?P<expected>[\d, ]{1,60}?)\)?\) tensor for key (?P<key>(?!optimizer\b)[\w.]{1,200})",
        sample="megatron.core.dist_checkpointing.core.CheckpointingException: Global shape mismatch for loaded (torch.Size([24, 4096, 1024])) and expected ((24, 3072, 1024)) tensor for key decoder.layers.mlp.linear_fc1.weight",
        explain="the checkpoint is of a model with other sizes: `{key}` is {loaded} there and {expected} in this run",
        remedy="Start with the sizes with which it was saved (layers, hidden size, heads and groups, feed-forward size, vocabulary), or load another checkpoint. These are shapes of whole tensors, so the number of GPUs does not matter.",
        versions="megatron-core",
        refines=("CKP002",),
    ),
    Signature(
        pattern=r"\bdist_checkpointing\.(?:core\.)?\w{0,30}(?:Checkpointing\w{0,20}|Checkpoint)Exception: (?P<why>(?:Object shard|Global shape|Cannot|Could not|Unexpected|Missing|Invalid|Tensor|Shape)\b[^\n]{0,200}|[^\n]{0,200}\b(?:is not a distributed checkpoint|shape mismatch)\b[^\n]{0,100})",
        sample="megatron.core.dist_checkpointing.core.CheckpointingException: Object shard /ckpt/iter_0000100/own.pt not found",
        explain="Megatron cannot load the checkpoint: {why}",
        remedy="List the directory of this iteration and compare it with an earlier one: a run that ended while it saved leaves parts out. Load the last complete iteration (`latest_checkpointed_iteration.txt` names it), with the model's sizes and the checkpoint format (`--ckpt-format`) with which it was saved.",
        versions="megatron-core",
        last_resort=True,
    ),
)
