"""Further wordings of failures that have signatures elsewhere: the same meaning in other versions and other programs."""

from checks.signatures.short import root, roots

_KEYS = "client and server do not have the same key; both must read the job's key file"

SIGNATURES = {
    "GPU001": (
        root(
            r"NVMLError_(?:NotFound|InvalidArgument)",
            "vllm.third_party.pynvml.NVMLError_NotFound: Not Found",
            "the id in CUDA_VISIBLE_DEVICES is not a whole UUID, or one of a slice where a whole GPU was wanted",
            "vllm",
            near=r"GetHandleByUUID|device_control_id_to_physical_device_id",
            within=8,
        ),
        root(
            r"""['\"](?:MIG|GPU)-[0-9a-f][0-9a-f/-]{5,60}['\"] is not (?:in list|a valid|an integer)|could not convert string to \w+: ['\"](?:MIG|GPU)-""",
            "ValueError: 'MIG-8a5c0f1e-11d2-5b0a-9f3e-2f1f0c9d7e11' is not in list",
            "a UUID in CUDA_VISIBLE_DEVICES was taken for a number",
            "ray, verl",
        ),
    ),
    "GPU004": (
        root(
            r"[Cc]annot provide a placement group",
            "ValueError: Cannot provide a placement group requiring 4.0 GPUs (placement_group_specs=[{'GPU': 1.0}]) within 1800 seconds.",
            "Ray has fewer GPUs than the run wants: a node did not join, or it is another's Ray",
            "vllm >= 0.17",
        ),
        root(
            r"Waiting for creating a placement group of specs for \d{3,9} seconds|resource request cannot be scheduled right now: .{0,80}GPU",
            "Waiting for creating a placement group of specs for 150 seconds. specs=[{'GPU': 1.0}, {'GPU': 1.0}]. Check `ray status` to see if you have enough resources",
            "Ray has fewer GPUs than the run wants: a node did not join, or it is another's Ray",
            "vllm, ray",
            fatal=False,
            at_least=2,
        ),
    ),
    "ENV006": roots(
        "the directory for temporary files is too long a path for a socket",
        (
            r"(?:system_error\S{0,10}|what\(\)).{0,40}File name too long",
            "  what():  File name too long",
            "ray, boost",
        ),
    ),
    "ENV007": roots(
        "the job took more host memory than it was given",
        (
            r"exceeds the memory usage threshold of|\bRay killed (?:this|\d{1,4}) workers?\b",
            "(raylet) Memory on the node (IP: 10.0.0.5) was 121.60GB / 128.00GB (0.95), which exceeds the memory usage threshold of 0.95. Ray killed this worker (ID: ab) because it was the most recently scheduled task",
            "ray >= 2.3",
        ),
    ),
    "ENV011": roots(
        "the compiled part of an extension is not there, or was built for another Python",
        (
            r"No module named '(?:vllm\._\w{0,20}C|flash_attn_2_cuda|torch\._C|flashinfer\._\w{1,30})'",
            "ModuleNotFoundError: No module named 'vllm._C'",
            "vllm, flash-attn",
        ),
    ),
    "IMG007": roots(
        "the sandbox runs as a user who may not write there; run it as root inside rootless Podman",
        (
            r"could not (?:lock|write|open) config file \S{0,200}: Permission denied",
            "error: could not write config file /root/.gitconfig: Permission denied",
            "git",
        ),
    ),
    "IMG009": roots(
        "the registry did not give the image: it is not there, or not open to this user",
        (
            r"reading manifest \S{1,200} in \S{1,200}: (?:denied|unauthorized|errors:)|did not resolve to an alias and no unqualified-search registries",
            "Error: initializing source docker://ghcr.io/x/y:z: reading manifest z in ghcr.io/x/y: denied",
            "podman",
        ),
    ),
    "RUN003": roots(
        "the runtime was given less time than its first image takes; raise the limit or prepare the images",
        (
            r"[Rr]untime (?:\S{1,80} )?(?:failed|did not manage) to (?:become|get) ready (?:in|within|after) \d|\bAgentRuntimeNotReadyError\b",
            "TimeoutError: Runtime failed to become ready in 600 s",
            "openhands",
        ),
    ),
    "CFG001": roots(
        "the request asked for more tokens than the model's context has left",
        (
            r"You passed \d+ input (?:tokens|characters) and requested \d+ output tokens",
            "VLLMValidationError: You passed 33000 input tokens and requested 0 output tokens. However, the model's context length is only 32768 tokens",
            "vllm >= 0.14",
        ),
    ),
    "MOD003": roots(
        "the model's directory is not whole, or not where it was said to be",
        (
            r"No such file or directory: '\S{0,200}(?:[Mm]odels?|hub|snapshots)\S{0,200}/(?:config\.json|tokenizer\w{0,20}\.json|model\S{0,40}\.safetensors(?:\.index\.json)?)'",
            "FileNotFoundError: [Errno 2] No such file or directory: '/models/qwen/config.json'",
            "transformers, safetensors",
        ),
    ),
    "CFG002": (
        root(
            r"(?:^\W{0,8}|\]:? |[-|\"] ?)AssertionError\W*$",
            "AssertionError",
            "the sizes of batches do not fit each other",
            "verl",
            near=r"assert [^\n]{0,120}batch(?:_?size|es)[^\n]{0,80}(?:%|[<>=]=|>|//)",
            within=3,
        ),
    ),
    "IMG001": roots(
        "the image cannot run the agent server where the runtime starts it; mount sandboxd or build a derived image",
        (
            r"""exec: ['"]?/?[^'"\s]{0,160}agent[-_]server[^'"\s]{0,80}['"]?: (?:stat |no such|executable file not found|permission denied)""",
            'Error: unable to start container process: exec: "/agent-server/.venv/bin/python": stat /usr/local/bin/python3: no such file or directory',
            "docker, runc, crun",
        ),
    ),
    "RUN001": (
        root(
            r"\binvalid[ _-](?:session )?api[ _-]?key\b",
            '{"error": "invalid api key"}',
            _KEYS,
            "runtime servers",
            unless=r"(?i:wandb|openai|anthropic|hugging)",
        ),
        *roots(
            _KEYS,
            (
                r"403[^\n]{0,40}Forbidden[^\n]{0,40}url[^\n]{0,200}:\d{4,5}/(?:start|stop|sessions?|runtime|api/(?:conversations?|bash|file|git|events))|/(?:start|stop|sessions?|runtime|resume|api/conversations?)\S* HTTP/1\.1\" 403\b",
                "httpx.HTTPStatusError: Client error '403 Forbidden' for url 'http://node07:60004/api/conversations'",
                "openhands-agent-server",
            ),
        ),
    ),
}
