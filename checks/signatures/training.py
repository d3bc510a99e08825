"""Further texts of the failures of memory, training steps and checkpoints."""

from checks.ckp.disk_too_small import NO_DISK
from checks.signatures.short import root, roots

_ALLOCATORS = r"\b(?:NPU|XPU|MUSA|HPU) out of memory|Failed to CUDA (?:calloc|malloc|host alloc)|(?:CUDA driver|CUDA runtime|HIP|Triton) [Ee]rror(?: \[(?:CUDA|HIP)\])?: out of memory|CUDA_ERROR_OUT_OF_MEMORY|would exceed allowed memory|CU(?:DNN|SOLVER|SPARSE)_STATUS_ALLOC_FAILED"
_OOM = rf"CUDA out of memory\. Tried to allocate|\bOutOfMemoryError: (?:CUDA|HIP) out of memory|CUDA error: out of memory|cudaErrorMemoryAllocation|CUBLAS_STATUS_ALLOC_FAILED|HIP out of memory|{_ALLOCATORS}"
_OOM_LINE = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.16 GiB. GPU 0 has a total capacity of 19.62 GiB of which 1.02 GiB is free."

SIGNATURES = {
    "MEM001": roots(
        "the GPU's memory does not hold the model and its training state; take a smaller model, LoRA or more memory",
        (
            rf"cudaErrorMemoryAllocation|CUBLAS_STATUS_ALLOC_FAILED|HIP out of memory|{_ALLOCATORS}|(?:HIP|CUDA|Cuda) failure.{{0,8}}out of memory|out of memory occurred when warming up|[Ff]ailed to allocate .{{0,40}}(?:GPU|device|CUDA) memory|OutOfMemoryError: Out of memory allocating|RESOURCE_EXHAUSTED: .{{0,20}}[Oo]ut of memory|cudaMalloc failed: out of memory",
            "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
            "torch, vllm",
        ),
    ),
    "MEM002": (
        root(
            _OOM,
            _OOM_LINE,
            "the update's logits and activations did not fit; chunk the entropy, remove padding, use micro-batch 1 and checkpointing",
            "torch, verl, prime-rl",
            near=r"in (?:_?engine_backward|_backward|backward|training_step|_forward_micro_batch|forward_backward\w*|train_batch|train_mini_batch|update_\w{1,20}|compute_log_prob\w*|compute_entropy\w*|logprobs_\w{1,30}|entropy_\w{1,30}|selective_log_softmax|optimizer_step|step)\b|loss\.backward|_update_(?:actor|policy|critic)\(\)|log_softmax|cross_entropy|autograd/(?:graph|__init__|function)\.py",
            within=60,
            unless="wake_up|cumem",
            refines=("MEM001",),
        ),
    ),
    "MEM003": roots(
        "vLLM's share is more than what is free when it starts; lower gpu_memory_utilization or start vLLM first",
        (
            r"is less than desired GPU memory utilization|[Ff]ree memory .{0,80}less than .{0,40}gpu_memory_utilization",
            "ValueError: Free memory on device cuda:0 (111.99/139.8 GiB) on startup is less than desired GPU memory utilization (0.95, 132.81 GiB).",
            "vllm >= 0.12",
        ),
    ),
    "MEM005": roots(
        "vLLM's share leaves no room for the KV cache of one request",
        (
            r"is larger than the maximum number of tokens that can be stored in KV cache|Not enough memory\. Please try to increase --mem-fraction-static|larger than the available KV cache memory|Not enough memory to handle \d+ prefill|[Nn]ot enough (?:GPU )?memory .{0,40}KV cache",
            "ValueError: The model's max seq len (32768) is larger than the maximum number of tokens that can be stored in KV cache (20512). Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.",
            "vllm < 0.9, sglang",
        ),
    ),
    "MEM006": (
        root(
            r"(?:cuMemCreate|torch_memory_saver|cumem\w*).{0,200}(?:out of memory|OUT_OF_MEMORY)|(?:out of memory|OUT_OF_MEMORY).{0,200}(?:cuMemCreate|memory_saver|cumem)",
            "CUresult error: 2 (out of memory)  file=csrc/torch_memory_saver.cpp func=cuMemCreate line=103",
            "vLLM or sglang woke up while the trainer still held the memory; empty the cache before wake_up",
            "sglang",
        ),
        root(
            _OOM,
            _OOM_LINE,
            "vLLM or sglang woke up while the trainer still held the memory; empty the cache before wake_up",
            "verl",
            near=r"\bwake_up\b|resume_memory_occupation|rollout_mode",
            within=40,
            refines=("MEM001", "MEM002"),
        ),
    ),
    "TRN001": (
        *roots(
            "no sample of the batch was left to train on; skip the step, and look for why the rollouts failed",
            (
                r"zero-size array to reduction operation (?:maximum|minimum)|(?:max|min|amax|argmax|amin)\(\): Expected reduction dim",
                "ValueError: zero-size array to reduction operation maximum which has no identity",
                "numpy, torch",
            ),
        ),
        root(
            r"\b(?:max|min)\(\) (?:iterable argument is empty|arg is an empty sequence)|mean requires at least one data point",
            "ValueError: max() iterable argument is empty",
            "no sample of the batch was left to train on; skip the step, and look for why the rollouts failed",
            "python",
            near=r"metric_utils|compute_\w{0,20}metrics|reduce_metrics|advantage",
            within=12,
        ),
        root(
            r"critic/(?:advantages|score|rewards|returns)/(?:mean|max|min)['\"]?: ?(?:np\.float\d\d\()?nan\b",
            "step:3 - critic/score/mean:nan - critic/advantages/mean:nan - response_length/mean:0.0",
            "no sample of the batch was left to train on: its metrics are not numbers",
            "verl >= 2026-04",
            fatal=False,
        ),
        root(
            r"expected a non-empty (?:list of Tensors|TensorList)",
            "RuntimeError: torch.cat(): expected a non-empty list of Tensors",
            "no sample of the batch was left to train on; skip the step, and look for why the rollouts failed",
            "torch, verl",
            near=r"metric|DataProto|protocol\.py|advantage|rollout|batch",
            within=40,
        ),
    ),
    "TRN003": (
        root(
            r"found at least two devices, (?:cpu and cuda|cuda:\d and cpu)|on the same device, but got \w{1,20} is on (?:cpu, different from other tensors on cuda|cuda:\d{1,3}, different from other tensors on cpu)",
            "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cpu and cuda:0!",
            "parameters are kept on the CPU while LoRA is trained",
            "verl, peft",
            near=r"(?i:lora|peft|offload)",
            within=80,
        ),
    ),
    "TRN007": (
        root(
            r"(?:^\W{0,8}|\]:? |[-|\"] ?)\W*StopIteration\W*$",
            "StopIteration",
            "the trainer sent vLLM a LoRA adapter without tensors",
            "vllm, verl",
            near=r"lora/(?:model_manager|models|worker_manager|peft_helper)|add_lora|add_adapter",
            within=40,
        ),
        root(
            r"[Ll]o[Rr][Aa] (?:adapter|request|model).{0,120}(?:has no (?:tensors|weights)|is empty|contains no|no (?:tensors|weights))",
            "ValueError: LoRA adapter 123 contains no weights",
            "the trainer sent vLLM a LoRA adapter without tensors",
            "vllm",
        ),
        root(
            r"offload_to_cpu=True and NO_SHARD is not supported",
            "NotImplementedError: offload_to_cpu=True and NO_SHARD is not supported yet",
            "FSDP1 on one GPU cannot gather a LoRA adapter layer by layer: take fsdp2, or leave layered_summon out",
            "torch, verl",
            near=r"(?i:lora|peft|adapter)",
        ),
    ),
    "CKP001": (
        root(
            r"[Nn]o (?:valid |existing |saved )?checkpoints? (?:was |were )?(?:found|in|at)\b|[Cc]ould not find (?:any |a )?checkpoint|[Cc]heckpoint (?:path|directory|dir|folder)\b.{0,200}(?:does not exist|not found)",
            "No checkpoint found in /ckpt/run, starting from scratch",
            "the run did not find the checkpoint that it was to go on from, and started anew",
            "SkyRL, prime-rl",
            near=r"global_step_\d+|SLURM_RESTART_COUNT\W{1,3}[1-9]|[Rr]esum(?:ing|ed) (?:from|training|run)|resume_from_path\W{1,4}/",
            within=100000,
            fatal=False,
        ),
        root(
            r"Can't find a valid checkpoint at|Error: No valid checkpoint found in|Error: .{0,40}[Nn]o checkpoints? (?:was |were )?found\b|Error: [Cc]heckpoint (?:file|path|directory|dir|folder)?.{0,200}(?:not found|does not exist)\b|Unable to find latest file at \S{1,300}, if trying to load latest|resume ckpt must|latest_ckpt_global_step\.txt.{0,60}(?:No such|not found|does not exist)|No such file or directory: '\S{1,200}(?:latest_ckpt_global_step|latest_checkpointed_iteration)\.txt",
            "FileNotFoundError: [Errno 2] No such file or directory: '/ckpt/run/latest_ckpt_global_step.txt'",
            "the run did not find the checkpoint that it was to go on from",
            "SkyRL",
        ),
    ),
    "CKP002": (
        *roots(
            "the checkpoint was written by another number of GPUs",
            (
                r"used a DP world size of \d+ but the current|(?i:world.?size)\b.{0,80}(?:mismatch|does not match|differs|but (?:the )?current)|(?:rank|world size) at save time was \d+|mismatch after resume \(|[Cc]heckpoint.{0,80}(?:saved|written|sharded) (?:with|for|by) \d+ (?:ranks?|GPUs?|workers)",
                "ValueError: The checkpoint being loaded used a DP world size of 8 but the current world size is 4. Automatic adjustment of ZeRO's optimizer state partitioning with a new world size is not currently supported.",
                "deepspeed",
            ),
            (
                r"world_size_\d+_rank_\d+\.pt\S{0,3} (?:not found|does not exist|is missing)",
                "AssertionError: /ckpt/global_step_20/actor/optim_world_size_4_rank_3.pt does not exist",
                "verl",
            ),
        ),
        root(
            r"The size of tensor a \(\d{5,12}\) must match the size of tensor b \(\d{5,12}\)",
            "RuntimeError: The size of tensor a (56124554) must match the size of tensor b (14031139) at non-singleton dimension 0",
            "the optimizer's state is that of another number of GPUs",
            "torch",
            near=r"torch/optim/|\bexp_avg",
            within=12,
        ),
    ),
    "CKP003": (
        root(
            r"\bStorageFull\b|\[Errno (?:28|122)\]|inline_container\.cc:\d+\] . (?:unexpected pos|PytorchStreamWriter)|unexpected pos \d+ vs \d+|\bwrite\(\): fd \d+ failed with|basic_ios::clear: iostream error|[Dd]isk is full|[Qq]uota exceeded|\bWrote only \d+ of \d+ bytes",
            "RuntimeError: [enforce fail at inline_container.cc:603] . unexpected pos 5120 vs 5012",
            "the disk is full; keep fewer checkpoints or write them elsewhere",
            "torch, safetensors",
            unless=rf"{NO_DISK}|(?i:quota metric|rate.?limit|requests per|tokens per)",
        ),
    ),
}
