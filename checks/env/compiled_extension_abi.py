"""A compiled extension does not load with the installed torch or on this system.

## What it does
If the training interpreter has torch, imports torch there and loads each installed compiled extension of vLLM,
flash-attn, xformers, torchvision, FlashInfer, bitsandbytes and others. Each runs in its own process with a time
limit.

## Why it breaks training
These extensions are built for one version of torch. With another version a symbol is missing, and the first import
fails: in a worker, after the job has its GPU. Upgrading torch alone breaks all of them at once.

## How to fix
Install the builds for this torch, all in one command. If you do without flash-attn, set the model's
`attn_implementation` to `sdpa`.

## Example
    ImportError: flash_attn_2_cuda.cpython-312-x86_64-linux-gnu.so: undefined symbol: _ZN3c105ErrorC2ENS_14SourceLocationE
"""

from collections.abc import Iterator

from checks.env.shared import COMPILED
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.extensions import Extensions, Tried
from skyrl_doctor.facts.interpreter import Interpreter

CAUSE = "a compiled extension was built for a different torch, CUDA or NumPy"

REBUILD = (
    "The path in the line names the package. Install it again for the torch that is there (`python -c 'import torch; "
    "print(torch.__version__, torch.version.cuda)'`): a wheel for this torch, CUDA and Python, or "
    "`pip install --force-reinstall --no-deps --no-build-isolation --no-cache-dir PACKAGE` (pip's cache may hold the "
    "wheel that was built for the other torch)."
)
ANOTHER_NUMPY = (
    "Install a newer version of the package that the traceback names, or an older NumPy (`pip install 'numpy<2'`), "
    "into the same environment."
)

XFORMERS = r"\bxFormers can't load C\+\+/CUDA extensions\. xFormers was built for"
"""A warning of the import: many programs have another attention and go on."""
OTHER_BUILD = "xformers was built for another torch, CUDA or Python than those installed, so its attention does not run"
MATCHING_XFORMERS = "`python -m xformers.info` names the versions that it was built for and those that it found. Install the release of xformers that belongs to this torch (`pip install xformers==VERSION` from the index of this torch)."

SKIPPED = r"\bSkipping import of "
"""The package goes on without the extension."""

SIGNATURES = (
    Signature(
        pattern=r"undefined symbol: _Z",
        unless=SKIPPED,
        sample="ImportError: /venv/lib/python3.12/site-packages/flash_attn_2_cuda.cpython-312-x86_64-linux-gnu.so: undefined symbol: _ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcEE",
        explain="a compiled extension was built for a different torch",
        remedy=REBUILD,
        versions="flash-attn",
    ),
    Signature(
        unless=SKIPPED,
        pattern=r"\.so[\w.]{0,20}: undefined symbol: |\.so[\w.]{0,20}: symbol \S{1,200}, version \S{1,80} not defined\b",
        sample="ImportError: /venv/lib/python3.12/site-packages/torch/lib/libtorch_cuda.so: undefined symbol: ncclCommWindowDeregister",
        explain=CAUSE,
        remedy=REBUILD,
        versions="torch",
    ),
    Signature(
        pattern=r"\bDLL load failed while importing\b",
        sample="ImportError: DLL load failed while importing flash_attn_2_cuda: The specified procedure could not be found.",
        explain=CAUSE,
        remedy=f"{REBUILD} A missing Visual C++ runtime gives the same error.",
        versions="torch",
    ),
    Signature(
        pattern=r"(?:Import|OS)Error: lib[\w+-]{1,40}\.so[\d.]*: cannot open shared object file",
        sample="ImportError: libcudart.so.12: cannot open shared object file: No such file or directory",
        explain=CAUSE,
        remedy="Another CUDA version is installed than the package was built for: install its build for the CUDA of torch (`python -c 'import torch; print(torch.version.cuda)'`). If the library is there, add its directory to `LD_LIBRARY_PATH`.",
        versions="vllm, flash-attn",
    ),
    Signature(
        pattern=r"compiled using NumPy 1\.x cannot be run in|numpy\.dtype size changed, may indicate binary incompatibility|operator torchvision::nms does not exist|module compiled against A[BP]I version|Couldn't load custom C\+\+ ops|'_OpNamespace' '(?:_\w{0,20}C\w{0,20}|torchvision|flash_attn\w{0,20})' object has no attribute|compiled with different CUDA major versions",
        sample="ValueError: numpy.dtype size changed, may indicate binary incompatibility. Expected 96 from C header, got 88 from PyObject",
        explain=CAUSE,
        remedy=REBUILD,
        versions="numpy, torchvision",
    ),
    Signature(
        pattern=r"(?:GLIBC(?:XX)?|CXXABI)_[\d.]{1,12}.? not found \(required by .{0,300}(?:(?:site|dist)-packages|lib-dynload|conda|mamba|miniforge|/envs/)",
        sample="ImportError: /lib64/libc.so.6: version `GLIBC_2.32' not found (required by /venv/lib/python3.12/site-packages/flash_attn_2_cuda.cpython-312-x86_64-linux-gnu.so)",
        explain="a compiled extension was built for a newer system than this node's",
        remedy="Build the package on this system (`pip install --no-binary PACKAGE PACKAGE`), use a wheel for an older glibc, or a container with a newer system.",
        versions="flash-attn",
        refines=("IMG008",),
    ),
    Signature(
        pattern=r"Tried to instantiate class '_\w{0,40}C\.\w{1,60}', but it does not exist",
        sample="RuntimeError: Tried to instantiate class '_core_C.ScalarType', but it does not exist! Ensure that it is registered via torch::class_",
        explain="the compiled part of an extension is not loaded: it is missing, or was built for a different torch or CUDA",
        remedy=REBUILD,
        versions="vllm",
    ),
    Signature(
        pattern=r"numpy\.core\.multiarray failed to import|\b_ARRAY_API not found|Error: Numpy is not available",
        sample="ImportError: numpy.core.multiarray failed to import",
        explain=CAUSE,
        remedy=ANOTHER_NUMPY,
        versions="numpy",
    ),
    Signature(
        pattern=rf"No module named '{COMPILED}|\bCould not load any common_ops library\b|\bImportError: cannot import name 'helpers(?:_cpp)?' from 'megatron\.core\.datasets'",
        sample="ModuleNotFoundError: No module named 'vllm._C'",
        explain="the compiled part of an extension is missing or was built for a different Python",
        remedy=REBUILD,
        versions="vllm, flash-attn",
    ),
    Signature(
        pattern=r"\bCould not load bitsandbytes native library: \S{1,300}: cannot open shared object file|\bCUDA Setup failed despite (?:GPU|CUDA) being available|\bConfigured (?:CUDA|ROCm|XPU) binary not found at \S|\b(?:Attribute|Runtime)Error: (?:'NoneType' object has no attribute 'c(?:adam|quantize|dequantize|get_managed|igemm|percentile|gemm)\w{0,60}'|Attempted to use bitsandbytes native library functionality)",
        sample="RuntimeError: Configured CUDA binary not found at /venv/lib/python3.12/site-packages/bitsandbytes/libbitsandbytes_cuda132.so",
        explain="bitsandbytes has no library for the CUDA version of this torch, so its quantised layers and 8-bit optimizers do not run",
        remedy="`python -m bitsandbytes` shows the CUDA version that it looks for and the libraries that it has. Install a bitsandbytes that has one for torch's CUDA (`python -c 'import torch; print(torch.version.cuda)'`), or build it. Unset `BNB_CUDA_VERSION`, which chooses another one.",
        versions="bitsandbytes",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bNo operator found for `memory_efficient_attention_\w{1,20}` with inputs",
        near=XFORMERS,
        within=100000,
        sample="NotImplementedError: No operator found for `memory_efficient_attention_forward` with inputs:",
        explain=OTHER_BUILD,
        remedy=MATCHING_XFORMERS,
        versions="xformers",
    ),
    Signature(
        pattern=rf"{XFORMERS}|\bxFormers wasn't build with CUDA support",
        near=r"\bNo operator found for `memory_efficient_attention_",
        within=100,
        sample="WARNING[XFORMERS]: xFormers can't load C++/CUDA extensions. xFormers was built for:",
        explain=OTHER_BUILD,
        remedy=MATCHING_XFORMERS,
        versions="xformers",
    ),
    Signature(
        pattern=r"\bInstalled CUDA version \S{1,20} does not match the version torch was compiled with\b|\bThe detected CUDA version \(\S{1,20}\) mismatches the version that was used to compile\b",
        sample="RuntimeError: The detected CUDA version (11.8) mismatches the version that was used to compile",
        explain="the CUDA toolkit of this node is of another version than torch's, so extensions for torch cannot be compiled",
        remedy="Load the CUDA toolkit of torch's version (`python -c 'import torch; print(torch.version.cuda)'`) and set `CUDA_HOME` to it, or install torch for the toolkit that is there. DeepSpeed: `DS_SKIP_CUDA_CHECK=1` if only the minor version differs.",
        versions="deepspeed, torch",
        unless=r"\baccepting this combination\b",
    ),
    Signature(
        pattern=r"\bCould not load library lib[\w+-]{1,40}\.so[\w.]{0,20}\b",
        sample="RuntimeError: Could not load library libcudnn_cnn_infer.so.8. Error: libnvrtc.so: cannot open shared object file: No such file or directory",
        explain="a library of CUDA that a package was built for is missing or of another version",
        remedy="Install the package's build for the CUDA of torch (`python -c 'import torch; print(torch.version.cuda)'`), and remove directories of other CUDA versions from `LD_LIBRARY_PATH`.",
        versions="torch",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bnvcc fatal {0,5}: Unknown option '(?P<option>[^'\n]{1,80})",
        sample="nvcc fatal   : Unknown option '-own-template-stub=false'",
        explain="the CUDA toolkit of this node does not know the option {option}: it is older or newer than the package that compiles its kernels expects",
        remedy="`nvcc --version` shows the toolkit, `python -c 'import torch; print(torch.version.cuda)'` torch's. Load the toolkit of torch's version and set `CUDA_HOME` to it.",
        versions="flashinfer, deep_gemm",
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\b(?:compiled|built) (?:for|against|with) (?:a different|another|an incompatible|an older|a newer)\b|\bABI\b.{0,40}(?:mismatch|incompatib|differ)|\bbinary[- ]incompatib",
    sample="ImportError: the extension was built against another torch",
    explain="a compiled extension was built for a different torch, CUDA or Python",
    versions="any",
)

NEEDED = ("torch", "vllm", "torchvision")
"""Without these nothing trains; the others are needed by some configurations only."""
NO_DRIVER = "libcuda.so.1: cannot open shared object file"


@check("ENV011", roles=[Role.GPU], fix="operator: what is installed for the training interpreter is its owner's")
def compiled_extension_abi(found: Extensions, interpreter: Interpreter) -> Iterator[Finding]:
    without_driver = [tried for tried in found.failed if NO_DRIVER in tried.error]
    failed = [tried for tried in found.failed if tried not in without_driver]
    if without_driver and not failed:
        raise CouldNotLook(f"{without_driver[0].name} needs a GPU driver, and this machine has none: {NO_DRIVER}")
    for tried in failed:
        yield _finding(tried, found, interpreter)


def _finding(tried: Tried, found: Extensions, interpreter: Interpreter) -> Finding:
    name, version = tried.distribution, interpreter.packages.get(tried.distribution, "")
    torch = found.torch or interpreter.packages.get("torch", "")
    seen = f"{name} {version}".strip()
    beside = "does not import" if name == "torch" else f"does not load with torch {torch}"
    needed = name in NEEDED or not version
    return Finding(
        message=f"{seen} {beside} under {interpreter.python.path}; expected a build for {'this Python' if name == 'torch' else 'this torch and Python'}",
        evidence=(tried.error if tried.name in (name, *tried.error.split(": ")) else f"{tried.name}: {tried.error}",),
        severity=Severity.ERROR if needed else Severity.WARNING,
        remedy=Remedy(
            kind=RemedyKind.FIX_ENV,
            summary="install torch and the extensions built for it together, from one index",
            commands=(f"{interpreter.python.path} -m pip install --force-reinstall --no-deps --no-cache-dir {name}",),
        ),
    )
