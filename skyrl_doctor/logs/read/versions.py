"""Finds the versions of packages at the start of a log."""

import re

LIMIT = 1 << 18
"""The first bytes of a log, in which programs name their versions."""
_MAX_FOUND = 200
_VERSION = rb"v?(\d{1,4}(?:\.\d{1,5}){1,3}[\w.+]{0,30})"
_NAMED = re.compile(
    rb"\b([A-Za-z][\w.-]{1,40})=="
    + _VERSION
    + rb"|\b(vllm|sglang|torch|ray|transformers|verl|skyrl[\w-]*|trl|triton|flash[_-]attn)-"
    + _VERSION
    + rb"[ ,\n-]"
    rb"|(?i:\b(vllm|sglang|pytorch|torch|ray|nccl|transformers|verl)(?: api server)? version:? ?)"
    + _VERSION
    + rb"|\bInitializing a V\d (LLM) engine \("
    + _VERSION
)
_SAME = {"pytorch": "torch", "llm": "vllm"}


def find_versions(data: bytes) -> dict[str, str]:
    """The versions of packages by their names as modules; the first one counts."""
    found: dict[str, str] = {}
    for match in _NAMED.finditer(data[:LIMIT]):
        name, version = (part.decode() for part in match.groups() if part is not None)
        name = name.lower().replace("-", "_")
        found.setdefault(_SAME.get(name, name), version.rstrip("."))
        if len(found) >= _MAX_FOUND:
            break
    return found
