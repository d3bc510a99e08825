"""Further wordings of failures that have signatures elsewhere: the same meaning in other versions and other programs."""

from checks.signatures.short import root, roots

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
    "CFG002": (
        root(
            r"^AssertionError\s*$",
            "AssertionError",
            "the sizes of batches do not fit each other",
            "verl",
            near=r"assert [^\n]{0,120}batch_?size[^\n]{0,80}(?:%|[<>=]=|>|//)",
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
    "MOD001": (
        root(
            r"KeyError: ['\"][\w.]{1,200}\.(?:weight|bias|weight_scale|absmax)['\"]",
            "KeyError: 'visual.patch_embed.proj.weight'",
            "vLLM does not know the names of the weights that the trainer sends",
            "vllm, verl",
            near=r"update_(?:params|weights)|sharding_manager|receive_weights|sync_weights|weight_transfer|weight_sync",
            within=40,
        ),
    ),
    "RUN001": roots(
        "client and server do not have the same key; both must read the job's key file",
        (
            r"403[^\n]{0,40}Forbidden[^\n]{0,40}url[^\n]{0,200}:\d{4,5}/(?:start|stop|sessions?|runtime|api/(?:conversations?|bash|file|git|events))|/(?:start|stop|sessions?|runtime|resume|api/conversations?)\S* HTTP/1\.1\" 403\b",
            "httpx.HTTPStatusError: Client error '403 Forbidden' for url 'http://node07:60004/api/conversations'",
            "openhands-agent-server",
        ),
    ),
}
