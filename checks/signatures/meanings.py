"""The thing and its trouble near each other, in whatever words: what exceptions and programs' last words say of a failure."""

from checks.signatures.short import root, roots

_FEW_GPUS = "Ray has fewer GPUs than the run wants: a node did not join, or it is another's Ray"
_SHORTER = r"context (?:size|limit|length|window)\b"

SIGNATURES = {
    "GPU001": roots(
        "the id of a MIG slice was given where this program takes a number, or this node has no such slice",
        (
            r"""(?:MIG|GPU)-[0-9a-f]{8}-[0-9a-f-]{10,60}\S{0,4} (?:unknown device|not found|is invalid)|[Ii]nvalid device (?:string|id|UUID|name|ordinal)\b.{0,12}(?:MIG|GPU)-[0-9a-f]""",
            "RuntimeError: Invalid device string: 'cuda:MIG-8a5c0f1e-11d2-5b0a-9f3e-2f1f0c9d7e11'",
            "torch, nvidia-container-cli",
        ),
    ),
    "GPU002": roots(
        "this process sees no GPU: none was given to it, or the variable names none that is there",
        (
            r"Error: .{0,80}(?:torch\.cuda\.is_available\(\) is False|[Nn]o (?:CUDA |NVIDIA )?(?:(?:GPUs|devices) (?:are |were )?(?:available|found|detected|visible)|GPU (?:is |was )?(?:found|detected|visible))\b|support bf16/gpu)|\bNVMLError_(?:DriverNotLoaded|LibraryNotFound)\b",
            "ValueError: ProcessGroupNCCL is only supported with GPUs, no GPUs found!",
            "torch, transformers, pynvml",
        ),
    ),
    "GPU004": (
        root(
            r"(?:[Nn]ot enough|[Ii]nsufficient) (?:GPUs?\b|(?:GPU |cluster )?resources to (?:allocate|launch|create|place|schedule)\b)|\b[Yy]ou requested gpu|\b[Rr]equest(?:ed|s) \d{1,5} (?:physical )?GPUs?\b.{0,60}\bonly \d|exceeds (?:the )?(?:number of )?available GPUs",
            "ValueError: Not enough resources to allocate 4 placement groups, only created 2 placement groups.",
            _FEW_GPUS,
            "vllm, ray, lightning",
            unless="deployment settings|GPU memory",
        ),
    ),
    "ENV001": roots(
        "the compiler that builds kernels, or the headers of the worker's Python, are not there",
        (
            r"\bPython headers needed to compile|\(missing: .{0,80}(?:Development|Python3?_INCLUDE_DIRS?)\b|cannot find -lpython|Command .{0,200}\b(?:gcc|cc|g\+\+|clang)\b.{0,800}exit status 127\b",
            "/scratch/x.c:16:2: error: #error Python headers needed to compile C extensions, please install development version of Python.",
            "cython, cmake, ld",
        ),
    ),
    "ENV005": roots(
        "W&B has no key, or a wrong one, in the process that logs",
        (
            r"\bWANDB_API_KEY\b.{0,40}(?:not set|unset|missing|required|must be set|not found|not defined|invalid)|\b(?:[Mm]issing|[Nn]o) (?:env\w* (?:var\w* )?)?WANDB_API_KEY\b",
            "ValueError: WANDB_API_KEY is not set",
            "any",
        ),
    ),
    "ENV006": roots(
        "the directory for temporary files is too long a path for a socket",
        (
            r"[Pp]ath name should not have more than \d+ characters|File name too long.{0,300}(?:/sockets?/|\.sock\b)|(?:/tmux-\d{1,10}/|/sockets?/|\.sock\b).{0,80}File name too long",
            "OSError: [Errno 36] File name too long: '/scratch/a/ray/session_1/sockets/raylet'",
            "grpc, tmux, ray",
        ),
    ),
    "ENV007": (
        root(
            r"\bOUT_OF_ME(?:MORY\b|\+)|\bRayOutOfMemoryError: |\bCannot allocate memory\b|\bcuda(?:HostAlloc|MallocHost|HostRegister)\b.{0,30}(?:out of memory|failed)",
            "4711              train OUT_OF_ME+    0:125",
            "the job took more host memory than it was given",
            "slurm, ray < 2.3, libc",
            unless=r"(?i:mlock|memlock|static TLS|ibv?_|hugepage|could not register|requeue)",
        ),
    ),
    "ENV008": roots(
        "no further process, thread or open file was allowed",
        (
            r"\b(?:spawn|fork|clone|pthread_create|thread)\b.{0,60}\bEAGAIN\b|\bWouldBlock, message: .{0,3}Resource temporarily",
            "Error: spawn /bin/sh EAGAIN",
            "node, rust",
        ),
    ),
    "ENV011": roots(
        "a compiled extension was built for another torch, CUDA or NumPy",
        (
            r"numpy\.core\.multiarray failed to import|\b_ARRAY_API not found|Error: Numpy is not available",
            "ImportError: numpy.core.multiarray failed to import",
            "numpy",
        ),
    ),
    "SLM004": roots(
        "the runtime's URL is not a URL: log lines went into it, or it is empty",
        (
            r"\bInvalidURI\b|\bURL scheme should be 'http|isn't a valid UR[IL]\b|Error: .{0,80}[Ii]nvalid (?:base |server |runtime )?(?:URL|url)\b",
            "websockets.exceptions.InvalidURI: [INFO] http://node07:8000 isn't a valid URI: scheme isn't ws or wss",
            "websockets, pydantic",
        ),
    ),
    "IMG001": roots(
        "the image cannot run the agent server where the runtime starts it; mount sandboxd or build a derived image",
        (
            r"""/agent[-_]server/[/.\w-]{0,60}/bin/[\w.-]{1,30}['\"`]?: (?:[Nn]o such file|not found|[Pp]ermission denied)""",
            "bash: line 1: /agent-server/.venv/bin/python: No such file or directory",
            "sh",
        ),
    ),
    "IMG009": roots(
        "the registry did not give the image: it is not there, not open, not reachable, or too many were asked for",
        (
            r"\bSource image rejected: |reading manifest .{1,300}: StatusCode: \d|\b(?:Err)?ImagePull(?:BackOff)?$|\bBack-off pulling image\b|\berror getting credentials - err\b",
            "Error: copying system image from manifest list: Source image rejected: Running image docker://x/y:z is rejected by policy.",
            "podman, docker, kubernetes",
        ),
    ),
    "RUN001": roots(
        "client and runtime do not have the same key; both must read the job's key file",
        (
            r"received 40\d\d .{0,40}(?:[Aa]uthenticat|[Uu]nauthori[sz]ed|[Ff]orbidden|[Ii]nvalid .{0,12}key)",
            "websockets.exceptions.ConnectionClosedError: received 4001 (private use) Authentication failed; then sent 4001 (private use) Authentication failed",
            "websockets",
        ),
    ),
    "RUN003": roots(
        "the runtime was given less time than its first image takes; raise the limit or prepare the images",
        (
            r"[Tt]ime(?:d ?)?out (?:while )?waiting for (?:the |a )?(?:remote )?(?:runtime|sandbox)\b|(?:[Rr]untime|[Ss]andbox) did not (?:start|come up|get ready) (?:within|in|after) \d",
            "TimeoutError: Timeout waiting for runtime to be ready after 300 seconds",
            "any",
        ),
    ),
    "RUN005": roots(
        "more sandboxes were asked for at once than the runtime has slots",
        (
            r"429 Too Many Requests' for url '\S{1,200}:\d{4,5}/(?:start|sessions?|runtime)\b|/(?:start|sessions?|runtime)\S{0,80} HTTP/1\.1\" 429\b",
            "httpx.HTTPStatusError: Client error '429 Too Many Requests' for url 'http://node07:8000/start'",
            "httpx, uvicorn",
        ),
        refines=("IMG009",),
    ),
    "RUN006": roots(
        "commands are written for bash, and this image has none, or another shell reads them",
        (
            r"""\bsh: (?:eval: )?(?:line \d{1,6}: )?syntax error: unexpected (?:\"[(&]\"|redirection)|\benv: .{1,3}bash.{1,3}: No such file|exec: \"?(?:/usr)?/bin/bash\"?: (?:stat |no such)""",
            "/usr/bin/env: 'bash': No such file or directory",
            "busybox, env, runc",
        ),
    ),
    "RUN010": (
        root(
            r"WARNING\W.{0,40}Exceeded concurrency limit\.",
            "WARNING:  Exceeded concurrency limit.",
            "the runtime breaks under that many starts at once; bound them",
            "uvicorn",
            at_least=3,
        ),
    ),
    "CFG001": (
        root(
            rf"(?:[Pp]rompt|[Ii]nput|[Rr]equest|tokens`?)\b.{{0,40}} exceeds? (?:the )?(?:model's |available |maximum |max ){{0,3}}{_SHORTER}|too long and exceeds the capacity|\bexceed_context_size_error\b",
            "the request exceeds the available context size (4096 tokens), try increasing it",
            "the request asked for more tokens than the model's context has left",
            "llama.cpp, anthropic, vllm",
            unless=r"(?i:truncat|skipp|dropp|filter)",
        ),
    ),
}
