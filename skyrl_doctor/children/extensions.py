"""Imports torch, then loads each compiled extension of the known packages.

An extension is loaded as a library, which binds its symbols to torch's without running its package. Packages without
such a library are imported. A crash ends this program, so each name is printed on stderr before it is loaded.
"""

import os
import sys

if sys.path and sys.path[0] == os.path.dirname(os.path.abspath(__file__)):
    del sys.path[0]

import ctypes
import importlib
import importlib.machinery
import json

# The libraries that a distribution's package loads when it is imported. `{abi}` is a suffix of this interpreter.
LIBRARIES = (
    ("torchvision", ("torchvision/_C{abi}",)),
    ("flash-attn", ("flash_attn_2_cuda{abi}",)),
    ("flash-attn-3", ("flash_attn_3/_C{abi}", "flash_attn_3_cuda{abi}")),
    ("xformers", ("xformers/_C{abi}",)),
    ("vllm", ("vllm/_C{abi}", "vllm/_C_stable_libtorch{abi}", "vllm/_moe_C{abi}", "vllm/_moe_C_stable_libtorch{abi}")),
    ("vllm", ("vllm/cumem_allocator{abi}", "vllm/vllm_flash_attn/_vllm_fa2_C{abi}")),
    ("deep-gemm", ("deep_gemm_cpp{abi}", "deep_gemm/_C{abi}")),
    ("causal-conv1d", ("causal_conv1d_cuda{abi}",)),
    ("mamba-ssm", ("selective_scan_cuda{abi}",)),
)
MODULES = (("flashinfer-python", "flashinfer"), ("bitsandbytes", "bitsandbytes"))


def libraries(patterns):
    suffixes = importlib.machinery.EXTENSION_SUFFIXES
    for pattern in patterns:
        paths = [os.path.join(entry, pattern.format(abi=suffix)) for entry in sys.path for suffix in suffixes]
        yield from [for_this_processor(path) for path in paths if os.path.isfile(path)][:1]


def for_this_processor(path):
    """vLLM's build for CPUs has a library for each kind of processor and loads one (platforms/cpu.py, import_kernels).

    The others end the process with an illegal instruction.
    """
    folder, name = os.path.split(path)
    older = os.path.join(folder, name.replace("_C.", "_C_AVX2.", 1))
    if older == path or not os.path.isfile(older):
        return path
    kinds = sys.modules["torch"].cpu
    if not kinds._is_avx512_supported():  # noqa: SLF001 -- as vLLM asks
        return older
    return path if kinds._is_avx512_bf16_supported() else older.replace("_C_AVX2.", "_C_AVX512.")  # noqa: SLF001


def attempt(distribution, name, work):
    print("trying", distribution, name, file=sys.stderr, flush=True)  # noqa: T201 -- read if this program crashes
    try:
        work()
    except BaseException as error:  # noqa: BLE001 -- an import may raise anything, SystemExit too
        text = str(error).strip() or repr(error)
        return [distribution, name, f"{type(error).__name__}: {text}"[:1000]]
    return [distribution, name, ""]


def loading(path):
    return lambda: ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL)


def importing(module):
    return lambda: importlib.import_module(module)


def load_all(names):
    tried = [attempt("torch", "torch", importing("torch"))]
    if tried[0][2]:
        return {"torch": "", "tried": tried}
    for distribution, patterns in LIBRARIES:
        if distribution in names:
            tried += [attempt(distribution, path, loading(path)) for path in libraries(patterns)]
    for distribution, module in MODULES:
        if distribution in names:
            tried.append(attempt(distribution, module, importing(module)))
    return {"torch": str(sys.modules["torch"].__version__), "tried": tried}


if __name__ == "__main__":
    # Output of packages at import goes to stderr, so that stdout has only the answer.
    answer_to = os.dup(1)
    os.dup2(2, 1)
    found = json.dumps(load_all(sys.argv[1:]))
    os.write(answer_to, found.encode() + b"\n")
    os._exit(0)  # skip the clean-up of the extensions
