"""The files of the plan's model on this machine."""

import json
import re
from collections.abc import Mapping
from typing import Any

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.machine.base import Absent, Machine
from skyrl_doctor.machine.paths import expand_home
from skyrl_doctor.plan.model import Plan

HUB_ID = re.compile(r"[A-Za-z0-9][\w.\-]*/[A-Za-z0-9][\w.\-]*|[A-Za-z0-9][\w.\-]*")
TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json", "tiktoken.model", "tekken.json")
MODEL_KEY = "model.path"
CONFIG = "config.json"


@record(kw_only=True)
class ModelFiles:
    """`directory` is None if the model was not found; `config` is None if config.json is missing or invalid. `searched` lists the
    directories that were searched."""

    name: str
    is_local: bool
    directory: str | None
    config: Mapping[str, Any] | None
    has_tokenizer: bool
    searched: tuple[str, ...]
    offline: str = ""

    @property
    def label(self) -> str:
        return f"{self.directory}/config.json" if self.config is not None else f"the name {self.name}"

    @property
    def text_config(self) -> Mapping[str, Any]:
        """The text part of a multimodal configuration; the whole configuration of a text model."""
        whole = self.config or {}
        inner = whole.get("text_config")
        return inner if isinstance(inner, Mapping) else whole


def is_path(name: str) -> bool:
    """Whether a model's name is a path, even if nothing exists there."""
    return name.startswith(("/", "./", "../", "~")) or name in (".", "..")


def parse_config(text: str) -> Mapping[str, Any] | None:
    """Parses config.json; None if it is not a JSON object."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def hub_directory(name: str) -> str:
    """org/name -> models--org--name"""
    return "models--" + name.replace("/", "--")


def cache_roots(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The hub's cache directory: the first of these variables that is set."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if environ.get(name):
            return (environ[name],)
    if environ.get("HF_HOME"):
        return (f"{environ['HF_HOME']}/hub",)
    if environ.get("XDG_CACHE_HOME"):
        return (f"{environ['XDG_CACHE_HOME']}/huggingface/hub",)
    return (f"{environ['HOME']}/.cache/huggingface/hub",) if environ.get("HOME") else ()


def offline_switch(environ: Mapping[str, str]) -> str:
    """The variable that switches the hub to offline mode, as NAME=value; empty if none does."""
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        if environ.get(name, "").upper() in ("1", "ON", "YES", "TRUE"):
            return f"{name}={environ[name]}"
    return ""


@probe(limit_s=5.0)
def model_files(machine: Machine, plan: Plan, environ: Environ) -> ModelFiles:
    """Looks for the plan's model in a directory or in the hub's cache. It uses no network."""
    name = plan.text(MODEL_KEY)
    if name is None:
        raise NotApplicable("no configuration names a model")
    return files_of(machine, name, {**environ, **_workers(plan)})


def by_name(plan: Plan) -> ModelFiles:
    """The plan's model where no machine is examined: its name alone."""
    name = plan.text(MODEL_KEY)
    if name is None:
        raise NotApplicable("no configuration names a model")
    return ModelFiles(name=name, is_local=False, directory=None, config=None, has_tokenizer=False, searched=())


def files_of(machine: Machine, name: str, variables: Mapping[str, str]) -> ModelFiles:
    """The files of a model: a path, or a name in the hub's cache."""
    places = [_local(name, variables)] if is_path(name) else _snapshots(machine, name, variables)
    is_local = is_path(name)
    if not is_local and "/" in name and _names(machine, name) is not None:
        places, is_local = [name], True  # a relative directory hides a hub name, for transformers too
    for place in places:
        names = _names(machine, place)
        if names is not None:
            config = parse_config(machine.read(f"{place}/{CONFIG}")) if CONFIG in names else None
            return ModelFiles(
                name=name,
                is_local=is_local,
                directory=place,
                config=config,
                has_tokenizer=bool(set(TOKENIZERS) & set(names)),
                searched=(place,),
                offline=offline_switch(variables),
            )
    looked = tuple(places) or tuple(f"{root}/{hub_directory(name)}" for root in cache_roots(variables))
    return ModelFiles(
        name=name,
        is_local=is_local,
        directory=None,
        config=None,
        has_tokenizer=False,
        searched=looked,
        offline=offline_switch(variables),
    )


def _workers(plan: Plan) -> dict[str, str]:
    """The workers' variables in the plan."""
    found = plan.find("env")
    return dict(found.value) if found is not None and isinstance(found.value, dict) else {}


def _local(name: str, environ: Mapping[str, str]) -> str:
    return expand_home(name, environ).rstrip("/") or "/"


def _snapshots(machine: Machine, name: str, environ: Mapping[str, str]) -> list[str]:
    found: list[str] = []
    for root in cache_roots(environ):
        base = f"{root}/{hub_directory(name)}"
        revisions = _names(machine, f"{base}/snapshots") or ()
        if revisions:
            current = _main(machine, base)
            found.extend(f"{base}/snapshots/{one}" for one in sorted(revisions, key=lambda one: (one != current, one)))
    return found


def _main(machine: Machine, base: str) -> str | None:
    try:
        return machine.read(f"{base}/refs/main").strip()
    except Absent:
        return None


def _names(machine: Machine, path: str) -> tuple[str, ...] | None:
    try:
        return machine.listdir(path)
    except Absent:
        return None
