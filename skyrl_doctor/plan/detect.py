"""Detects the kind of a target from its text; the file name only breaks ties."""

import re
import tomllib
from collections.abc import Mapping

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.plan.source import COMMAND_LINE, Source

_SHELL_SUFFIXES = (".sh", ".bash", ".conf", ".sbatch", ".slurm", ".env")
_YAML_SUFFIXES = (".yaml", ".yml")
_MAIN_PPO = re.compile(r"main_ppo(?:\.py)?(?:['\"\s\\]|$)")
_ASSIGNMENT = re.compile(r"^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=", re.MULTILINE)
_TOML_HEADER = re.compile(r"^\s*\[\[?[\w\"'.\- ]+\]\]?\s*(?:#.*)?$", re.MULTILINE)
_YAML_KEY = re.compile(r"^[\w.\-]+:(?:\s|$)", re.MULTILINE)


def detect_kind(source: Source) -> str:
    """One of: verl-command, conf, toml, yaml."""
    text, suffix = source.text, source.suffix
    if not text.strip():
        raise UsageError(f"target {source.file}: the file is empty")
    if source.file == COMMAND_LINE or (suffix not in (*_YAML_SUFFIXES, ".toml") and _MAIN_PPO.search(text)):
        return "verl-command"
    if suffix == ".toml":
        return "toml"
    if suffix in _YAML_SUFFIXES:
        return "yaml"
    if suffix in _SHELL_SUFFIXES or text.startswith("#!"):
        return "conf"
    return _guess(source)


def _guess(source: Source) -> str:
    """The kind of a file without a known suffix. Raises UsageError."""
    if _TOML_HEADER.search(source.text) or _is_toml_of_tables(source.text):
        return "toml"
    if _ASSIGNMENT.search(source.text):
        return "conf"
    if _YAML_KEY.search(source.text):
        return "yaml"
    raise UsageError(
        f"target {source.file}: unknown format; expected a RunConfig or prime-rl TOML, "
        "a dev.conf, a SkyRL-agent or Hydra YAML, or a command line or script that calls verl's main_ppo"
    )


def _is_toml_of_tables(text: str) -> bool:
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return False
    return any(isinstance(value, Mapping) for value in table.values())
