"""Detects the format of a target from its name and text: shell, toml, yaml or python."""

import re
from collections.abc import Mapping

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.plan.source import COMMAND_LINE, Source

READABLE = (
    "a run.toml of skyrl-train, prime-rl's TOML files, SkyRL-agent's dev.conf and task YAML, a verl or SkyRL YAML, "
    "and scripts or command lines that start verl's, SkyRL's or prime-rl's programs"
)
"""What the doctor reads, for refusals."""
SHELL, TOML, YAML, PYTHON = "shell", "toml", "yaml", "python"
_SUFFIXES = {
    ".toml": TOML,
    ".yaml": YAML,
    ".yml": YAML,
    ".py": PYTHON,
    **dict.fromkeys((".sh", ".bash", ".conf", ".sbatch", ".slurm", ".env"), SHELL),
}
_LOGS = (".log", ".out", ".err")
_OF_A_LOG = re.compile(r"^(?:\x1b\[\d+m)?\((?:\w+ )?pid=\d+|^Traceback \(most recent call last\):\s*$", re.MULTILINE)
"""Ray's mark of a line of a worker, and the begin of a Python error: no configuration has one at the start of a line."""
_CALL = re.compile(r"(?:^|\s)(?:-m\s+[\w.]+|[\w./-]+\.py|torchrun|uv\s+run)(?:\s|$)")
_ASSIGNMENT = re.compile(r"^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=", re.MULTILINE)
_TOML_HEADER = re.compile(r"^\s*\[\[?[\w\"'.\- ]+\]\]?\s*(?:#.*)?$", re.MULTILINE)
_YAML_KEY = re.compile(r"^[\w.\-]+:(?:\s|$)", re.MULTILINE)


def detect_format(source: Source) -> str:
    """One of SHELL, TOML, YAML and PYTHON. Raises UsageError."""
    text = source.text
    if not text.strip():
        raise UsageError(f"target {source.file}: the file is empty")
    if source.file == COMMAND_LINE:
        return SHELL
    first = text.partition("\n")[0]
    if first.startswith("#!") and source.suffix not in (".toml", ".yaml", ".yml"):
        return PYTHON if "python" in first else SHELL
    known = _SUFFIXES.get(source.suffix)
    if known is None and (source.suffix in _LOGS or _OF_A_LOG.search(text)):
        raise UsageError(
            f"target {source.file}: a log, not a configuration; `skyrl-doctor diagnose {source.file}` finds its cause"
        )
    return known or _guess(source)


def _guess(source: Source) -> str:
    """The format of a file without a known suffix. Raises UsageError."""
    if _TOML_HEADER.search(source.text) or _is_toml_of_tables(source.text):
        return TOML
    if _ASSIGNMENT.search(source.text) or _CALL.search(source.text):
        return SHELL
    if _YAML_KEY.search(source.text):
        return YAML
    raise UsageError(f"target {source.file}: unknown format; the doctor reads {READABLE}")


def _is_toml_of_tables(text: str) -> bool:
    import tomllib  # only a file without a known suffix needs it here

    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return False
    return any(isinstance(value, Mapping) for value in table.values())
