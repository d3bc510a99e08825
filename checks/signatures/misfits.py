"""As `subjects`: what numbers, models and settings that do not fit are called."""

from checks.signatures.short import root
from checks.signatures.topics import LACK

_SANDBOX = r"(?:sandbox|runtime|container|agent[- _]server)"

TOPICS = {
    "IMG004": root(
        r"(?i)\bentry ?point\b.{0,80}\b(?:twice|both|duplicat\w+|repeated|already)\b",
        "ERROR entrypoint and command both start openhands-agent-server",
        "the image's entrypoint and the command both name the agent server; the runtime must override the entrypoint",
        "any",
    ),
    "RUN004": root(
        r"(?i)\b(?:unknown|unexpected|unrecogni[sz]ed|invalid) (?:pod|runtime|sandbox|container)[ _](?:status|state)\b",
        "ValueError: unexpected pod status 'exited' from the runtime server",
        "the server's states are not those that the client knows: only `ready` ends the wait",
        "any",
    ),
    "RUN006": root(
        r"(?i)\b(?:needs|requires|wants|written for) bash\b|\bbash\b(?!: (?:line \d|\S{1,80}: )).{0,30}\b(?:missing|not (?:installed|found|available|there)|required)\b|\b(?:dash|/bin/sh)\b.{0,40}\bnot bash\b",
        "ERROR set-up script needs bash, /bin/sh is dash",
        "commands are written for bash, and another shell reads them",
        "any",
    ),
    "RUN008": root(
        rf"(?i)\b{_SANDBOX}\b.{{0,60}}\b(?:listens?|listening|bound|binds)\b.{{0,40}}(?:127\.0\.0\.1|localhost|loopback)",
        "ERROR agent server listens on 127.0.0.1 only, nobody can reach it",
        "the agent server listens inside its container only; give it a session key or `--host 0.0.0.0`",
        "any",
    ),
    "RUN010": root(
        rf"(?i)\b{_SANDBOX}\b.{{0,80}}\b(?:overload\w*|overwhelmed|50[0234]\b.{{0,40}}(?:/start|load))",
        "RuntimeError: the runtime answered 503 to /start under load",
        "the runtime breaks under that many starts at once; bound them",
        "any",
    ),
    "AGT013": root(
        rf"(?i)\b(?:prompt|template)\b.{{0,80}}\.j(?:2|inja2?)\b.{{0,60}}{LACK}",
        "ERROR prompt template system_prompt.j2 is missing in the worker",
        "the prompt's template did not come along to the worker",
        "any",
    ),
    "CFG005": root(
        r"(?i)\b(?:max_model_len|context length|max(?:imum)? sequence length)\b.{0,60}\b(?:larger|longer|greater|more) than\b.{0,80}\b(?:model|max_position_embeddings|trained|supports?)\b",
        "ValueError: max_model_len 65536 is larger than what the model was trained for (32768)",
        "the model has a shorter context than was asked for",
        "any",
        unless="max_num_batched_tokens",
    ),
    "ENV014": root(
        r"(?i)\bexpandable[_ ]segments\b.{0,100}\b(?:cannot|can't|not|incompatib\w+|conflicts?|exclude)\b",
        "RuntimeError: expandable_segments cannot be combined with sleep mode",
        "expandable_segments and this memory pool exclude each other",
        "any",
        unless="on this platform",
    ),
    "MEM003": root(
        r"(?i)\bfree\b.{0,20}\bmemory\b.{0,60}\b(?:less|smaller|lower) than\b.{0,80}utili[sz]ation|\bgpu_memory_utilization\b.{0,100}\b(?:more|greater|larger|exceeds|higher)\b.{0,60}\bfree\b",
        "RuntimeError: free GPU memory (3 GiB) is less than gpu_memory_utilization asks for (17 GiB)",
        "vLLM's share is more than what is free when it starts; lower gpu_memory_utilization or start vLLM first",
        "any",
    ),
    "MEM006": root(
        r"(?i)\bout of memory\b.{0,60}\bwak(?:e|ing)\b|\bwak(?:e|ing)[ _]up\b.{0,60}\bout of memory\b",
        "RuntimeError: out of memory while waking up vLLM",
        "vLLM woke up while the trainer still held the memory; empty the cache before wake_up",
        "any",
    ),
    "MOD001": root(
        r"(?i)\bweights?\b.{0,100}\b(?:unknown|unexpected|unmatched) (?:parameter|weight|key|tensor)|\b(?:vllm|engine)\b.{0,60}\b(?:does not|cannot|can't|failed to) (?:accept|reload|load)\b.{0,40}\bweights\b",
        "RuntimeError: vLLM does not accept the trainer's weights: unknown parameter model.layers.0.mlp.gate",
        "vLLM cannot reload this model's weights",
        "any",
    ),
    "MOD002": root(
        r"(?i)\b(?:vision|multi-?modal)(?:[- ]language)?[- ]models?\b.{0,60}(?:not supported|unsupported|cannot)",
        "ValueError: vision-language models are not supported here",
        "the model sees pictures, and the loader takes language models only",
        "any",
    ),
    "TRN003": root(
        r"(?i)\blora\b.{0,60}\boff-?load\w*\b.{0,60}\b(?:cannot|can't|not|incompatib\w+|unsupported)\b|\b(?:cannot|can't)\b.{0,40}\boff-?load\w*\b.{0,40}\blora\b",
        "RuntimeError: LoRA and CPU offload cannot be combined",
        "parameters are kept on the CPU while LoRA is trained",
        "any",
    ),
}
