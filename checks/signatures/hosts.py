"""Further texts of the failures of a node and its environment: other versions, other programs."""

from checks.signatures.short import root, roots

SIGNATURES = {
    "ENV001": roots(
        "the compiler that Triton calls does not find the headers of the worker's Python",
        (
            r"""(?:file )?['\"<]Python\.h['\">]? (?:file )?not found|fatal error: .{0,40}pyconfig\.h|\.c(?:c|pp|xx)?:\d+:\d+: [^:\n]{3,80}: .{0,6}Python\.h\b""",
            "/scratch/tmpx1/main.c:5:10: fatal error: 'Python.h' file not found",
            "clang, tcc",
        ),
        (
            r"libcuda\.so cannot found!",
            "AssertionError: libcuda.so cannot found! Possible files are located at ['/usr/lib64/libcuda.so.1'].Please create a symlink of libcuda.so to any of the files.",
            "triton 2",
        ),
        (
            r"No such file or directory: '(?:\S{0,80}[/-])?(?:gcc|cc|clang|g\+\+)'|No working C(?:\+\+)? compiler found|error: command '\S{0,80}(?:gcc|cc|clang|g\+\+|c\+\+)' failed: No such file|unable to execute '\S{0,80}(?:gcc|cc|clang|g\+\+|c\+\+)': No such file|cannot execute .{1,3}cc1(?:plus)?\b",
            "FileNotFoundError: [Errno 2] No such file or directory: 'gcc'",
            "triton, torch inductor",
        ),
    ),
    "ENV005": roots(
        "W&B has no key, or a wrong one, in the process that logs",
        (
            r"\bapi_key not configured|\bAPI key must (?:be|have) (?:at least )?\d+",
            "ValueError: API key must be 40 characters long, yours was 12",
            "wandb",
        ),
        (
            r"wandb\S{0,40}(?:AuthenticationError|: ERROR .{0,80}(?:user is not logged in|[Ii]nvalid API key|permission denied \(<Response \[40[13]))|returned error 401.{0,200}user is not logged in|\bupsertBucket.{0,200}(?:not logged in|permission denied)",
            "wandb: ERROR Error while calling W&B API: user is not logged in (<Response [401]>)",
            "wandb",
        ),
        (
            r"wandb\.errors.{0,80}(?:not logged in|[Ll]ogin required|API key|api_key)",
            "wandb.errors.CommError: It appears that you are not logged in. Run wandb login",
            "wandb",
        ),
    ),
    "ENV006": roots(
        "the directory for temporary files is too long a path for a socket",
        (
            r"ipc path .{0,300}longer than \d+ characters|sizeof\(sockaddr_un\.sun_path\)",
            'zmq.error.ZMQError: ipc path "/net/scratch/jobs/1355700/tmp.t0016/5f0d1c" is longer than 107 characters (sizeof(sockaddr_un.sun_path)).',
            "vllm, pyzmq",
        ),
        (
            r"\b[Ss]ocket (?:path|name|path ?name|file ?name)\b.{0,300}(?:too long|longer than|exceeds)|\bunix socket.{0,200}too long|\brun ?root is longer than \d+ characters|\.sock\S{0,80} .{0,40}File name too long",
            "Error: unix socket path /net/scratch/jobs/1355700/run/libpod/socket/ab12/attach is too long",
            "podman, ray",
        ),
        (
            r"\b(?:listen|dial) unix \S{100,400}: (?:bind|connect): invalid argument",
            "Error: unable to listen: listen unix /net/scratch/projects/agents-of-the-group/slurm/jobs/1355700/tmp.t0016/run/containers/storage/podman/podman.sock: bind: invalid argument",
            "go",
        ),
    ),
    "ENV007": roots(
        "the job took more host memory than it was given",
        (
            r"\btask \d+: Out Of Memory|Exceeded (?:job|step) memory limit|oom_kill event|State[=:] ?OUT_OF_MEMORY|\bexceeded memory limit\b.{0,40}being killed|\bReason: {1,12}OOMKilled\b",
            "srun: error: gpu07: task 0: Out Of Memory",
            "slurm",
        ),
        (
            r"Out of memory: Killed process \d+|invoked oom-killer|running low on memory|\(OOM\) killed|killed by the OOM killer|\bsystemd-oomd(?:\[\d+\])?: Killed ",
            "kernel: Out of memory: Killed process 81234 (ray::WorkerDict) total-vm:98342100kB, anon-rss:61234000kB",
            "linux, ray",
        ),
        (
            r"\[Errno 12\] Cannot allocate memory|\bfork: .{0,40}Cannot allocate memory|unable to (?:mmap|allocate shared memory).{0,200}Cannot allocate memory|\bfatal error: runtime: (?:out of memory|cannot allocate memory)|\boom_reaper: reaped|\bx(?:m|re)alloc: cannot allocate|\bArrowMemoryError\b|\bmemory allocation of \d{1,20} bytes failed|DefaultCPUAllocator: (?:can't allocate|not enough) memory|\bstd::bad_alloc\b|_ArrayMemoryError|^MemoryError\b",
            "RuntimeError: [enforce fail at alloc_cpu.cpp:118] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 8589934592 bytes. Error code 12 (Cannot allocate memory)",
            "torch, python",
        ),
        (
            r"DataLoader worker \(pid\S{0,3} \d+\) is killed by signal: Killed|\bObjectStoreFullError\b",
            "RuntimeError: DataLoader worker (pid 8123) is killed by signal: Killed.",
            "torch, ray",
        ),
    ),
    "ENV008": roots(
        "no further process, thread or open file was allowed",
        (
            r"pthread_create failed|[Tt]hread creation failed|failed to create new OS thread|fork: (?:retry: )?Resource temporarily|\bsh: \d{1,5}: Cannot fork\b|fork rejected by pids controller|background thread creation failed|address space and process count limits are big enough|\bOMP: (?:Error #34: |System error #11: )|\bThreadPoolBuildError\b",
            "OpenBLAS blas_thread_init: pthread_create failed for thread 31 of 64: Resource temporarily unavailable",
            "openblas, libgomp, go",
        ),
        (
            r"\[Errno 11\] Resource temporarily unavailable|[Tt]oo many open files|\bEMFILE\b",
            "OSError: [Errno 24] Too many open files: '/tmp/ray/session_latest/sockets/plasma_store'",
            "python",
        ),
        (
            r"what\(\): .{0,20}Resource temporarily unavailable|Resource temporarily unavailable \[system:11\]|fork/exec .{0,120}resource temporarily unavailable",
            "[2026-03-02 09:14:03,500 E 812 812] logging.cc:108: Unhandled exception: N5boost10wrapexceptINS_6system12system_errorEEE. what(): thread: Resource temporarily unavailable [system:11]",
            "ray",
        ),
    ),
    "ENV009": roots(
        "the job met a Ray that is not its own: another job's or another user's on the same node",
        (
            r"Session name \S{1,80} does not match persisted value",
            "AssertionError: Session name session_2026-03-02_09-14-03_1 does not match persisted value b'session_2026-03-01_10-00-00_7'. Perhaps there was an error connecting to Redis.",
            "ray",
        ),
        (
            r"Ray is trying to start at .{0,60}but is already running|Found multiple active Ray instances|Failed to start the grpc server\. The specified port|num_cpus and num_gpus must not be provided|is trying to use a port number \d+ that is used by other",
            "ConnectionError: Ray is trying to start at 10.0.0.7:6379, but is already running at 10.0.0.7:6379. Please specify a different port using the `--port` flag of `ray start` command.",
            "ray",
        ),
        (
            r"Permission denied: '/tmp/ray|Could not find any running Ray instance|[Pp]ort \d+ (?:is )?already (?:in use|taken|used).{0,60}(?:ray|gcs|redis)",
            "PermissionError: [Errno 13] Permission denied: '/tmp/ray/session_2026-03-02_09-14-03_1'",
            "ray",
        ),
    ),
    "ENV011": (
        *roots(
            "a compiled extension was built for another torch, CUDA or NumPy",
            (
                r"\.so[\w.]{0,20}: undefined symbol: |DLL load failed while importing",
                "ImportError: /venv/lib/python3.12/site-packages/torch/lib/libtorch_cuda.so: undefined symbol: ncclCommWindowDeregister",
                "torch",
            ),
            (
                r"(?:Import|OS)Error: lib[\w+-]{1,40}\.so[\d.]*: cannot open shared object file",
                "ImportError: libcudart.so.12: cannot open shared object file: No such file or directory",
                "vllm, flash-attn",
            ),
            (
                r"compiled using NumPy 1\.x cannot be run in|numpy\.dtype size changed, may indicate binary incompatibility|operator torchvision::nms does not exist|module compiled against A[BP]I version|Couldn't load custom C\+\+ ops|'_OpNamespace' '(?:_\w{0,20}C\w{0,20}|torchvision|flash_attn\w{0,20})' object has no attribute|compiled with different CUDA major versions",
                "ValueError: numpy.dtype size changed, may indicate binary incompatibility. Expected 96 from C header, got 88 from PyObject",
                "numpy, torchvision",
            ),
        ),
        root(
            r"(?:GLIBC(?:XX)?|CXXABI)_[\d.]{1,12}.? not found \(required by .{0,300}(?:(?:site|dist)-packages|lib-dynload|conda|mamba|miniforge|/envs/)",
            "ImportError: /lib64/libc.so.6: version `GLIBC_2.32' not found (required by /venv/lib/python3.12/site-packages/flash_attn_2_cuda.cpython-312-x86_64-linux-gnu.so)",
            "a compiled extension was built for a newer system than this node's",
            "flash-attn",
            refines=("IMG008",),
        ),
    ),
    "ENV014": roots(
        "expandable_segments and this memory pool exclude each other",
        (
            r"[Ee]xpandable[_ ]segments.{0,80}(?:not compatible|incompatible|not supported (?:with|by) (?:vllm|CuMem|sleep|KV)|is not supported|cannot be used)",
            "RuntimeError: PYTORCH_CUDA_ALLOC_CONF expandable_segments:True is incompatible with sleep mode",
            "vllm",
        ),
    ),
    "ENV015": roots(
        "ROCR_VISIBLE_DEVICES and CUDA_VISIBLE_DEVICES or HIP_VISIBLE_DEVICES are set at once",
        (
            r"Please use HIP_VISIBLE_DEVICES instead of ROCR_VISIBLE_DEVICES|Incons[ia]{1,2}st[ae]nt values? .{0,60}(?:HIP|ROCR)_VISIBLE_DEVICES",
            "RuntimeError: Please use HIP_VISIBLE_DEVICES instead of ROCR_VISIBLE_DEVICES",
            "ray",
        ),
    ),
}
