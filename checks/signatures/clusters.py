"""Further texts of the failures of GPUs, Ray's resources and Slurm."""

from checks.signatures.short import root, roots

SIGNATURES = {
    "GPU001": (
        root(
            r"""invalid literal for int\(\) with base 10: b?['\"]GPU-[0-9a-f]""",
            "ValueError: invalid literal for int() with base 10: 'GPU-7f57f032-34ab-a064-c37c-7a4f75601cc5'",
            "a UUID in CUDA_VISIBLE_DEVICES was read as a number",
            "vllm",
        ),
        root(
            r"NVMLError_(?:InvalidArgument|NotFound)|nvmlDeviceGet\w{1,40} failed|Unknown device ID .?MIG-",
            "pynvml.NVMLError_InvalidArgument: Invalid Argument",
            "a MIG slice was asked for as if it were a whole GPU",
            "vllm >= 0.33",
            near=r"MIG-[0-9a-f]|device_id_to_physical_device_id",
            within=150,
        ),
    ),
    "GPU003": roots(
        "another process holds memory of the same GPU",
        (
            r"CUDA-capable device\(s\) is/are busy or unavailable|all CUDA-capable devices are busy",
            "RuntimeError: CUDA error: CUDA-capable device(s) is/are busy or unavailable",
            "torch",
        ),
        (
            r"memory capacity is unbalanced\. Some GPUs may be occupied",
            "RuntimeError: The memory capacity is unbalanced. Some GPUs may be occupied by other processes.",
            "sglang",
        ),
    ),
    "GPU004": roots(
        "Ray has fewer GPUs than the run wants: a node did not join, or it is another's Ray",
        (
            r"Current node has no GPU available|cannot start without GPU",
            "ValueError: Current node has no GPU available. current_node_resource={'CPU': 16.0}. vLLM engine cannot start without GPU. Make sure you have at least 1 GPU available in a node.",
            "vllm",
        ),
        (
            r"number of required (?:GPUs|\w+s) exceeds the total number of available",
            "ValueError: The number of required GPUs exceeds the total number of available GPUs in the placement group.",
            "vllm",
        ),
        (
            r"No available node types can fulfill resource requests? .{0,120}(?:GPU|accelerator)|[Cc]annot provide a placement group of",
            "(autoscaler +1m5s) Error: No available node types can fulfill resource request {'CPU': 1.0, 'GPU': 1.0}. Add suitable node types to this cluster to resolve this issue.",
            "ray, vllm",
        ),
        (
            r"cannot be satisfied in this ray cluster|Failed to create placement group with \d+|[Pp]lacement group creation timed out|\bResourceInsufficientError: ",
            "ValueError: Resource pool global_pool: 8*2 cannot be satisfied in this ray cluster",
            "verl, SkyRL",
        ),
    ),
    "SLM001": roots(
        "the job's wall time was over",
        (
            r"\b(?:JobState|State)[=:] ?TIMEOUT\b|TIME LIMIT \*\*\*|[Ww]all ?time (?:limit )?(?:exceeded|reached)|exceeded (?:its )?(?:wall ?time|time limit)|\bRequested time limit is invalid|\bTime limit exhausted for\b|\bRun time [\d:-]{4,16}, TIMEOUT\b|^\s{0,4}\d{1,12}(?:\.\w{1,12})? .{1,120} TIMEOUT {1,30}\d{1,3}:\d|\b(?:PartitionTimeLimit|(?:QOS|Assoc)MaxWallDurationPerJobLimit)\b",
            "JobId=4711 JobName=train JobState=TIMEOUT Reason=TimeLimit",
            "slurm",
        ),
    ),
    "SLM004": roots(
        "the runtime's URL is not a URL: log lines went into it, or it is empty",
        (
            r"Invalid URL '[^\n]{0,200}No scheme|\b(?:MissingSchema|InvalidSchema|LocationParseError)\b|No connection adapters were found for",
            "requests.exceptions.MissingSchema: Invalid URL '[INFO] waiting for runtime/sessions/x': No scheme supplied. Perhaps you meant https://[INFO] waiting for runtime/sessions/x?",
            "requests",
        ),
        (
            r"curl: \(3\)|\bPort could not be cast to integer value as|\bunknown url type: |\bInvalid(?:Url|URL)(?:ClientError)?\b|\bNonHttpUrl(?:ClientError)?\b|\bInvalid IPv6 URL\b|\bhttpcore\.UnsupportedProtocol\b|\bInput should be a valid URL, |\bInvalid URL: (?:host|port)\b|netloc .{1,200} contains invalid characters",
            "curl: (3) URL using bad/illegal format or missing URL",
            "curl, aiohttp",
        ),
    ),
}
