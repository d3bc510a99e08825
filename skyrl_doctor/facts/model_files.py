"""The model that the plan names, as far as it lies on this machine."""

import json
import re
from collections.abc import Mapping
from typing import Any

from skyrl_doctor.core.record import record

HUB_ID = re.compile(r"[A-Za-z0-9][\w.\-]*/[A-Za-z0-9][\w.\-]*|[A-Za-z0-9][\w.\-]*")
TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json", "tiktoken.model", "tekken.json")


@record(kw_only=True)
class ModelFiles:
    """`directory` is None where nothing was found; `config` is None where config.json is not there or does not read."""

    name: str
    is_local: bool
    directory: str | None
    config: Mapping[str, Any] | None
    has_tokenizer: bool
    looked: tuple[str, ...]
    offline: str = ""

    @property
    def shown(self) -> str:
        return f"{self.directory}/config.json" if self.config is not None else f"the name {self.name}"

    @property
    def text_config(self) -> Mapping[str, Any]:
        """The part of the configuration that is about text; the whole one for a model of text alone."""
        whole = self.config or {}
        inner = whole.get("text_config")
        return inner if isinstance(inner, Mapping) else whole


def is_path(name: str) -> bool:
    """Whether a model's name means a directory, whatever is there."""
    return name.startswith(("/", "./", "../", "~")) or name in (".", "..")


def parse_config(text: str) -> Mapping[str, Any] | None:
    """config.json; None where it is no JSON object."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def hub_directory(name: str) -> str:
    """org/name -> models--org--name"""
    return "models--" + name.replace("/", "--")


def cache_roots(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Where huggingface_hub keeps its snapshots: the first of these that is set."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if environ.get(name):
            return (environ[name],)
    if environ.get("HF_HOME"):
        return (f"{environ['HF_HOME']}/hub",)
    if environ.get("XDG_CACHE_HOME"):
        return (f"{environ['XDG_CACHE_HOME']}/huggingface/hub",)
    return (f"{environ['HOME']}/.cache/huggingface/hub",) if environ.get("HOME") else ()


def offline_switch(environ: Mapping[str, str]) -> str:
    """The variable that forbids the hub, as NAME=value; empty where none does."""
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        if environ.get(name, "").upper() in ("1", "ON", "YES", "TRUE"):
            return f"{name}={environ[name]}"
    return ""
