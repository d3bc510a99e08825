"""Looks for the plan's model on this machine: a directory, or a snapshot in the hub's cache. Never the network."""

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.model_files import (
    TOKENIZERS,
    ModelFiles,
    cache_roots,
    hub_directory,
    is_path,
    offline_switch,
    parse_config,
)
from skyrl_doctor.machine.base import Absent, Machine
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.probes.home import expanded

KEY = "model.path"


@probe(limit_s=5.0)
def model_files(machine: Machine, plan: Plan, environ: Environ) -> ModelFiles:
    name = plan.text(KEY)
    if name is None:
        raise NotApplicable("no configuration names a model")
    variables = {**environ, **_workers(plan)}
    places = [_local(name, variables)] if is_path(name) else _snapshots(machine, name, variables)
    is_local = is_path(name)
    if not is_local and "/" in name and _names(machine, name) is not None:
        places, is_local = [name], True  # a relative directory hides a hub name, for transformers too
    for place in places:
        names = _names(machine, place)
        if names is not None:
            config = parse_config(machine.read(f"{place}/config.json")) if "config.json" in names else None
            return ModelFiles(
                name=name,
                is_local=is_local,
                directory=place,
                config=config,
                has_tokenizer=bool(set(TOKENIZERS) & set(names)),
                looked=(place,),
                offline=offline_switch(variables),
            )
    looked = tuple(places) or tuple(f"{root}/{hub_directory(name)}" for root in cache_roots(variables))
    return ModelFiles(
        name=name,
        is_local=is_local,
        directory=None,
        config=None,
        has_tokenizer=False,
        looked=looked,
        offline=offline_switch(variables),
    )


def _workers(plan: Plan) -> dict[str, str]:
    """The variables that the plan gives the workers."""
    found = plan.find("env")
    return dict(found.value) if found is not None and isinstance(found.value, dict) else {}


def _local(name: str, environ: dict[str, str]) -> str:
    return expanded(name, environ).rstrip("/") or "/"


def _snapshots(machine: Machine, name: str, environ: dict[str, str]) -> list[str]:
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
