"""What shows that a cache of compiled code lies where others disturb it, whatever the file system calls the trouble."""

from checks.signatures.short import root, roots

_LOST = r"(?:No such file or directory|Permission denied|Read-only file system|Stale (?:NFS )?file handle|Device or resource busy|Directory not empty|Input/output error|File exists)"
_TRITON = r"(?:/\.triton\b|triton_cache|triton/cache)"
_COMPILED = r"(?:torchinductor[_/]|torch_compile_cache|torch_aot_compile|inductor_cache|\.cache/(?:vllm|flashinfer|torch_extensions)\b)"

SIGNATURES = {
    "ENV002": (
        *roots(
            "Triton's cache lies where several users or nodes disturb each other",
            (
                rf"{_LOST}.{{0,300}}{_TRITON}|[Tt]riton.{{0,300}}[Ss]tale file handle|/\.triton/\S{{0,200}}: {_LOST}",
                "OSError: [Errno 116] Stale file handle: '/home/user/.triton/cache/ab12/matmul.json'",
                "triton",
            ),
            (
                r"\.triton/\S{0,200}\.nfs[0-9a-f]{6}",
                "OSError: [Errno 16] Device or resource busy: '/home/user/.triton/cache/ab12/.nfs000000013c0f3f5c00000c1f'",
                "triton",
            ),
            refines=("IMG007",),
        ),
        root(
            r"Error: \[Errno (?:5|16|17|39|116)\] [\w /]{5,40}(?:\W*$|: '(?:\.nfs|tmp\.pid))",
            "OSError: [Errno 116] Stale file handle",
            "Triton's cache lies on a network file system, where processes of several nodes disturb each other",
            "triton",
            near=r"triton/runtime/cache\.py|triton/runtime/autotuner",
            within=8,
        ),
    ),
    "ENV010": (
        root(
            rf"{_LOST}.{{0,200}}{_COMPILED}|{_COMPILED}\S{{0,200}}: {_LOST}",
            "FileNotFoundError: [Errno 2] No such file or directory: '/tmp/torchinductor_user/4f/c4fab.py'",
            "compile caches are shared between jobs, and one took files from under the other",
            "torch inductor, vllm",
            refines=("IMG007", "ENV002"),
        ),
        root(
            r"The file lock '\S{0,300}(?:\.cache|torch_compile|flashinfer|inductor|triton)\S{0,200}' could not be acquired|/\.cache/\S{1,300}', needed by .{1,200}missing and no known rule|torch_extensions/\S{1,200}\.so: (?:cannot open shared object|file too short)",
            "filelock._error.Timeout: The file lock '/home/user/.cache/flashinfer/0.5/90a/cached_ops/batch_decode.lock' could not be acquired.",
            "compile caches are shared between jobs, and one waits for another or takes its files",
            "flashinfer, torch",
        ),
        root(
            r"\bEOFError: Ran out of input|UnpicklingError|JSONDecodeError|BadZipFile|Bytes object is corrupted|invalid ELF header|file too short",
            "EOFError: Ran out of input",
            "compile caches are shared between jobs, and one left half a file",
            "torch inductor, vllm",
            near=r"torchinductor|torch_compile_cache|inductor_cache|_inductor/(?:codecache|remote_cache|runtime/\w*cache)|triton/runtime/cache|compilation/(?:compiler_interface|backends)|\.triton/cache",
            within=40,
        ),
    ),
}
