"""A kernel or a number format does not run on this GPU.

## What it does
Finds CUDA's errors about kernels that were not built for the GPU, and the refusals of vLLM, FlashAttention and
FlashInfer for GPUs that are too old.

## Why it breaks training
A compiled package holds kernels for the GPU generations of its build only. bfloat16 needs compute capability 8.0
(A100 and newer). The error comes with the first use of the kernel, often after the model was loaded.

## How to fix
New GPU: install builds of torch and the named package for its generation (for Blackwell CUDA 12.8 or newer). Old GPU:
use `dtype=half` and another attention backend, or request a newer GPU.

## Example
    RuntimeError: CUDA error: no kernel image is available for execution on the device
"""

from skyrl_doctor.core.signature import Signature

OLD_FOR_TRITON = "`nvidia-smi --query-gpu=name,compute_cap --format=csv` prints the capability. Below 8.0 (T4, V100, P100): Triton does not support the GPU any more; request a newer one, choose a backend that does not use Triton (vLLM: `--attention-backend`, before 0.14 `VLLM_ATTENTION_BACKEND`), or use the release of Triton from before the failure. With 8.0 and newer: set another number format (fp8 needs 8.9), or update Triton."

SIGNATURES = (
    Signature(
        pattern=r"\bno kernel image is available for execution\b|\bdevice kernel image is invalid\b|\bcudaError(?:NoKernelImageForDevice|InvalidKernelImage)\b|\bCUDA_ERROR_NO_BINARY_FOR_GPU\b|\bCU(?:BLAS|DNN|SOLVER|SPARSE)_STATUS_ARCH_MISMATCH\b",
        sample="RuntimeError: CUDA error: no kernel image is available for execution on the device",
        explain="torch, vLLM or another compiled package has no kernels for this GPU's generation",
        remedy="Compare `python -c 'import torch; print(torch.cuda.get_device_capability(), torch.cuda.get_arch_list())'`. If torch lists the GPU, the package of the last traceback frame is the one: install its build for this GPU and this CUDA, or build it with `TORCH_CUDA_ARCH_LIST` set to the capability.",
        versions="cuda",
    ),
    Signature(
        pattern=r"\bwith CUDA capability (?P<found>sm_\d{2,3}) is not compatible with the current PyTorch installation",
        sample="NVIDIA RTX A6000 with CUDA capability sm_86 is not compatible with the current PyTorch installation.",
        explain="the installed torch has no kernels for this GPU ({found})",
        remedy="Install a build of torch for this GPU generation (`python -c 'import torch; print(torch.cuda.get_arch_list())'` prints those of the installed one).",
        versions="torch",
        last_resort=True,
        passing=True,
    ),
    Signature(
        pattern=r"Bfloat16 is only supported on GPUs with compute capability of at least (?P<needed>\d+\.\d)\. Your (?P<gpu>.{1,60}?) GPU has compute capability (?P<found>\d+\.\d)",
        sample="ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0. Your Tesla T4 GPU has compute capability 7.5. You can use float16 instead by explicitly setting the `dtype` flag in CLI, for example: --dtype=half.",
        explain="bfloat16 needs compute capability {needed}; this {gpu} has {found}",
        remedy="Set `dtype=half` for vLLM, or request a GPU with compute capability {needed} or newer (A100, L40S, H100).",
        versions="vllm",
    ),
    Signature(
        pattern=r"\bYour setup doesn't support bf16/gpu\b",
        sample="ValueError: Your setup doesn't support bf16/gpu. You need torch>=1.10, using Ampere GPU with cuda>=11.0",
        explain="this process sees no GPU that computes in bf16: an older one than Ampere (V100, T4), or none",
        remedy="`nvidia-smi -L` in the job shows its GPUs. An older one: set `bf16` to false and `fp16` to true, or request an A100, L40S or H100. None: the job was given no GPU, or CUDA_VISIBLE_DEVICES hides it.",
        versions="transformers",
        refines=("ENV012",),
    ),
    Signature(
        pattern=r"GPUs with compute capability below (?P<needed>\d+\.\d) are not supported|Unsupported gpu architecture",
        sample="RuntimeError: GPUs with compute capability below 7.0 are not supported.",
        explain="this GPU is older than the program supports",
        remedy="Request a newer GPU (`nvidia-smi --query-gpu=name,compute_cap --format=csv` prints the capability), or install an older release of the program that still supports this one.",
        versions="vllm, nvcc",
    ),
    Signature(
        pattern=r"FlashAttention only supports Ampere GPUs or newer|\bFlashInfer requires (?:GPUs? with )?(?:sm|SM|compute capability)",
        sample="RuntimeError: FlashAttention only supports Ampere GPUs or newer.",
        explain="this GPU is older than the attention package supports",
        remedy="Choose another attention backend (vLLM: `--attention-backend`, before 0.14 `VLLM_ATTENTION_BACKEND`; transformers: `attn_implementation=sdpa`), or request a newer GPU.",
        versions="vllm, flash-attn, flashinfer",
    ),
    Signature(
        pattern=r"provided PTX was compiled with an unsupported toolchain|\bcudaErrorUnsupportedPtxVersion\b|\bCUDA_ERROR_UNSUPPORTED_PTX_VERSION\b",
        sample="RuntimeError: CUDA error: the provided PTX was compiled with an unsupported toolchain.",
        explain="the GPU driver is older than the CUDA version that this package was built with",
        remedy="Install the package's build for the CUDA version that `nvidia-smi` prints, or ask for a newer driver.",
        versions="cuda",
    ),
    Signature(
        pattern=r"\bptxas fatal {0,5}: Value '(?P<arch>sm_\w{2,5})' is not defined|\binvalid value for --gpu-architecture\b|\bunsupported CUDA gpu architecture: |\bptxas does not support CC \d|\bdata type is not supported on CUDA arch <|\bnot supported in this architecture\b",
        sample="ptxas fatal   : Value 'sm_120' is not defined for option 'gpu-name'",
        explain="the compiler of this Triton or CUDA does not know this GPU, or the GPU lacks the number format",
        remedy="New GPU: update Triton and CUDA (`TRITON_PTXAS_PATH` may name a newer ptxas). A format such as fp8e4nv needs compute capability 8.9 (L40S, H100): choose another format or GPU.",
        versions="triton, cuda",
    ),
    Signature(
        pattern=r"\bUnsupported conversion from (?P<source>b?f(?:16|8\w{2,12})) to (?P<target>b?f(?:16|32|8\w{2,12}))\b(?: with rounding mode \w{2,8})?\s*$|\bLLVM ERROR: Unsupported rounding mode for conversion",
        sample="LLVM ERROR: Unsupported rounding mode for conversion.",
        explain="Triton cannot compile a kernel for this GPU: a conversion of 16-bit or 8-bit numbers needs a newer GPU or another Triton",
        remedy=OLD_FOR_TRITON,
        versions="triton",
    ),
    Signature(
        pattern=r"\bLLVM ERROR: Cannot select: (?:intrinsic )?[^\n]{0,120}(?:nvvm|NVPTX|bf16|bfloat|f16)",
        sample="LLVM ERROR: Cannot select: intrinsic %llvm.nvvm.shfl.sync.bfly.i32",
        explain="Triton cannot compile a kernel for this GPU: the GPU has no such instruction",
        remedy=OLD_FOR_TRITON,
        versions="triton",
    ),
    Signature(
        pattern=r"--tf32 requires Ampere or a newer GPU|\bConversion (?:from|to|from/to) f8\w{2,12} is only supported on compute capability|\btype fp8e4nv not supported in this architecture",
        sample="ValueError: --tf32 requires Ampere or a newer GPU arch, cuda>=11 and torch>=1.7",
        explain="a number format needs a newer GPU than this one",
        remedy="`nvidia-smi --query-gpu=name,compute_cap --format=csv` prints the capability: tf32 and bf16 need 8.0 (A100), fp8 8.9 (L40S, H100). Turn the format off, or request such a GPU.",
        versions="transformers, triton",
    ),
    Signature(
        pattern=r"\bThe quantization method (?P<method>\S{1,40}) is not supported for the current GPU\. Minimum capability: (?P<needed>\d{2,3})\. Current capability: (?P<found>\d{2,3})",
        sample="ValueError: The quantization method fp8 is not supported for the current GPU. Minimum capability: 89. Current capability: 80.",
        explain="the quantisation {method} needs compute capability {needed}, and this GPU has {found}",
        remedy="Use the model without this quantisation, or request a newer GPU.",
        versions="vllm",
    ),
    Signature(
        pattern=r"\bFlash ?Attention[ -]?\S{0,4} (?:Backend )?(?:only supports|requires) (?:Ampere|Hopper|Blackwell|Ada|SM)|\bis too old to be supported by the triton GPU compiler|\bCUDA error: invalid device function|\brequires \.target sm_\d{2,3}\w? or higher|\b(?:is|are) only supported on (?:CUDA )?(?:devices (?:with|of) (?:CUDA )?(?:compute )?capability|Ampere|Hopper|Blackwell)|\bno kernel (?:image )?(?:found )?for sm_\d|\w{1,30}(?:Error|Exception): (?:[^\n]{0,80}\b(?:[Oo]nly supports? (?:Hopper|Blackwell|Ampere|Ada)\b|sm_\d{2,3}\w? is not supported\b)|(?:[^\n]{0,60}\b)?Unsupported (?:SM|sm)(?: version)?:? ?(?:sm_?)?\d\d|Only (?:Hopper|Blackwell|Ampere|Ada)\b[^\n]{0,40}\bsupported)|\bnot supported on this architecture: sm_?\d|Error: [^\n]{0,200}\brequires (?:SM ?\d{2,3}\+|(?:Hopper|Blackwell|Ampere)\b)",
        sample="RuntimeError: Found Tesla P100 which is too old to be supported by the triton GPU compiler, which is used as the backend.",
        explain="a kernel or a number format needs another GPU generation than this one",
        unless=r"\bCannot use FA version\b|\bNVIDIA Inference is only supported on",
        remedy="Compare `nvidia-smi --query-gpu=name,compute_cap --format=csv` with the generation that the line names: request such a GPU, or choose another backend or format.",
        versions="torch, triton, flash-attn, sglang",
    ),
    Signature(
        pattern=r"\bout of resource: (?P<what>shared memory|tensor memory|registers|threads), Required: (?P<needed>\d{1,12}), Hardware limit: (?P<limit>\d{1,12})",
        sample="triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 131072, Hardware limit: 101376. Reducing block sizes or `num_stages` may help.",
        explain="a Triton kernel needs {needed} of {what}, and this GPU has {limit}",
        remedy="The kernel was tuned for a larger GPU. Choose another attention backend or kernel (the last frame of the traceback names the package), update that package, or use the GPU that it was made for.",
        versions="triton",
    ),
    Signature(
        pattern=r"\b[Cc]ompute capability (?P<needed>\d{1,2}\.\d) or higher (?:is )?required\b|\b\w{1,40}Error: [^\n]{0,160}\b(?:requires?|needs?|only supported on)\b[^\n]{0,60}\b[Cc]ompute [Cc]apability (?:of )?(?:at least |>=? ?)?(?P<least>\d{1,2}\.\d)|\bnvcc fatal {0,5}: Value '(?P<arch>sm_\w{2,5}|compute_\w{2,5})' is not defined",
        sample="AssertionError: Device compute capability 8.9 or higher required for FP8 execution.",
        explain="a kernel or number format needs a newer GPU, or the CUDA compiler here does not know this GPU yet",
        remedy="`nvidia-smi --query-gpu=name,compute_cap --format=csv` prints the capability. Lower than the line asks for: choose another number format or backend (fp8 needs 8.9), or request a newer GPU. nvcc does not know the GPU: install a newer CUDA toolkit, or leave it out of `TORCH_CUDA_ARCH_LIST`.",
        versions="transformer-engine, nvcc",
    ),
    Signature(
        pattern=r"\bFlash ?Attention (?:forward |backward )?only supports head (?:dimension|size)s? (?:at most|up to) (?P<most>\d{2,4})|\w{1,40}Error: (?:[^\n]{0,40}\b)?[Hh]ead size (?P<size>\d{1,4}) is not supported by \w{3,40}",
        sample="RuntimeError: FlashAttention forward only supports head dimension at most 256",
        explain="this attention kernel does not support the size of the model's attention heads",
        remedy="Choose another attention backend for this model (transformers: `attn_implementation=sdpa`; vLLM: `--attention-backend`; Megatron: `--attention-backend unfused`). `head_dim` in the model's config.json is the size.",
        versions="flash-attn, vllm",
    ),
    Signature(
        pattern=r"\bPTXASError: PTXAS error\b|\bInternal Triton PTX codegen error\b|\b'sm_\d{2,3}\w?' is not a recognized processor for this target\b|\bexpects arch to be one of \[[^\]\n]{1,400}\], but got \S",
        sample="triton.runtime.errors.PTXASError: PTXAS error: Internal Triton PTX codegen error",
        explain="Triton's assembler (ptxas), or a compiler of kernels, refuses the kernel: mostly it is older than this GPU",
        remedy="The lines below `ptxas stderr` have the reason. A GPU that it does not know: set `TRITON_PTXAS_PATH` to the ptxas of a newer CUDA toolkit (`$CUDA_HOME/bin/ptxas`), or update Triton with torch.",
        versions="triton, cutlass",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bNo compiled \w[\w ]{2,60} for (?:a compute capability|CUDA device capability|SM ?\d{1,3}|capability)\b|\b(?:is|are) not (?:yet )?implemented for (?:Blackwell|Hopper|Ada|Ampere|SM ?\d{2,3})\b|\b(?:No valid attention backend found for cuda\b|is not valid for this configuration\. Reason)[^\n]{0,1500}\bcompute capability not supported\b|\b(?:GPU|device) \([^()\n]{0,40}compute capability \d{1,2}\.\d[^()\n]{0,20}\) is not supported\b",
        sample="NotImplementedError: No compiled own_scaled_mm for a compute capability less than CUDA device capability: 120",
        explain="a kernel was not built for this GPU, or has no version for it",
        remedy="Take a build of the package for this GPU (its list of architectures, `TORCH_CUDA_ARCH_LIST`, must hold it), or choose another kernel: another quantisation, attention backend (`--attention-backend`) or data type of the KV cache.",
        versions="vllm, sglang",
    ),
)
