"""Words that many failures share, told apart by the frames of code above them."""

from checks.signatures.short import root

_NOTHING_LEFT = "no sample of the batch was left to train on; skip the step, and look for why the rollouts failed"
_TOO_SHORT = "the runtime was given less time than its first image takes; raise the limit or prepare the images"
_WEIGHTS = "vLLM does not know the names or the shapes of the weights that the trainer sends"
_SENDS = r"update_(?:params|weights)|sharding_manager|receive_weights|sync_weights|weight_transfer|weight_sync"

SIGNATURES = {
    "ENV007": (
        root(
            r"CUDA error: out of memory",
            "RuntimeError: CUDA error: out of memory",
            "the host has no memory left for a pinned copy: CUDA tells of that in the same words",
            "torch, vllm",
            near=r"pin_memory ?= ?True|\.pin_memory\(|cudaHostAlloc|cumem\.py\", line \d{1,5}, in sleep",
            within=5,
            refines=("MEM001", "MEM002", "MEM006"),
        ),
    ),
    "TRN001": (
        root(
            r"stack expects a non-empty TensorList|\bneed at least one array to (?:concatenate|stack)|input tensor must be non-empty",
            "RuntimeError: stack expects a non-empty TensorList",
            _NOTHING_LEFT,
            "torch, numpy",
            near=r"metric|DataProto|protocol\.py|advantage|rollout|batch",
            within=12,
        ),
        root(
            r"\bZeroDivisionError: |No objects to concatenate|is out of bounds for axis 0 with size 0",
            "ZeroDivisionError: division by zero",
            _NOTHING_LEFT,
            "python",
            near=r"metric_utils|compute_\w{0,20}metrics|reduce_metrics|compute_advantage",
            within=4,
        ),
    ),
    "CKP001": (
        root(
            r"No such file or directory: '\S{1,300}/\.metadata'",
            "FileNotFoundError: [Errno 2] No such file or directory: '/ckpt/step_20/trainer/.metadata'",
            "the checkpoint that the run was to go on from is not whole, or not there",
            "torch",
            near=r"distributed/checkpoint",
            within=12,
        ),
    ),
    "CKP002": (
        root(
            r"IndexError: tuple index out of range",
            "IndexError: tuple index out of range",
            "the checkpoint holds the random states of more GPUs than this run has",
            "torch",
            near=r"set_rng_state_all",
            within=8,
        ),
    ),
    "MOD003": (
        root(
            r"invalid load key, 'v'",
            "_pickle.UnpicklingError: invalid load key, 'v'.",
            "the model's files are pointers of git-lfs, not the weights",
            "torch",
            near=r"torch/serialization|safetensors|load_state_dict|torch\.load\(",
            within=20,
            refines=("ENV010",),
        ),
    ),
    "MOD001": (
        root(
            r"""KeyError: ['\"][\w.]{1,200}[._](?:weight|bias|weight_scale|absmax)['\"]""",
            "KeyError: 'visual.patch_embed.proj.weight'",
            _WEIGHTS,
            "vllm, verl",
            near=_SENDS,
            within=40,
        ),
        root(
            r"(?:^\W{0,8}|\]:? |[-|\"] ?)AssertionError\W*$",
            "AssertionError",
            _WEIGHTS,
            "vllm",
            near=r"assert [^\n]{0,80}(?:== loaded_weight\.|loaded_weight\.(?:shape|size)[^\n]{0,40} ==)",
            within=3,
        ),
    ),
    "RUN001": (
        root(
            r"rejected WebSocket connection: HTTP 40[13]\b",
            "websockets.exceptions.InvalidStatus: server rejected WebSocket connection: HTTP 403",
            "client and runtime do not have the same key; both must read the job's key file",
            "websockets, openhands-agent-server",
        ),
        root(
            r"\"WebSocket /\S{1,200}\" 40[13]\b",
            'INFO:     10.4.7.21:40122 - "WebSocket /sockets/events/7f1c" 403',
            "client and runtime do not have the same key; both must read the job's key file",
            "uvicorn",
            fatal=False,
        ),
    ),
    "RUN003": (
        root(
            r"\bRetryError\[",
            "tenacity.RetryError: RetryError[<Future at 0x7f2a state=finished raised RuntimeError>]",
            _TOO_SHORT,
            "openhands-workspace",
            near=r"Runtime not yet ready \(status: (?:pending|not found|building)\)",
            within=60,
        ),
    ),
    "GPU004": (
        root(
            r"worker group startup timed out after \d",
            "The worker group startup timed out after 60.0 seconds waiting for 8 workers.",
            "Ray has fewer GPUs than the run wants: a node did not join, or it is another's Ray",
            "ray >= 2.43",
            fatal=False,
        ),
    ),
}
