"""Loads a RunConfig from TOML and reports all errors at once; writes it as JSON for the job directory."""

import json
import tomllib
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from skyrl_train.config.constraints import violations
from skyrl_train.config.run import RunConfig
from skyrl_train.contracts import bounded
from skyrl_train.contracts.violation import Violation

NOT_CONFIG = ("waivers",)
"""Tables of a target that only the doctor reads."""


class ConfigError(ValueError):
    """A configuration is invalid. `reasons` holds all violations."""

    def __init__(self, reasons: tuple[Violation, ...]) -> None:
        super().__init__("\n".join(f"{reason.key}: {reason.message}" for reason in reasons))
        self.reasons = reasons


def read(path: str) -> RunConfig:
    """The configuration in a TOML file."""
    return parse(bounded.read_text(path))


def parse(text: str) -> RunConfig:
    """The configuration in a TOML text, with types and rules checked. Raises ConfigError or tomllib.TOMLDecodeError."""
    config = parse_types(text)
    fatal = tuple(violation for violation in violations(config) if violation.fatal)
    if fatal:
        raise ConfigError(fatal)
    return config


def parse_types(text: str) -> RunConfig:
    """As `parse`, with types checked and no rules."""
    try:
        table = tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deep") from None
    return shaped(table)


def shaped(table: Mapping[str, Any]) -> RunConfig:
    """The configuration of a parsed TOML, with types checked."""
    kept = {name: value for name, value in table.items() if name not in NOT_CONFIG}
    try:
        # Through JSON, because strict mode accepts an array as a tuple only there.
        return RunConfig.model_validate_json(json.dumps(kept, default=str))
    except ValidationError as error:
        raise ConfigError(tuple(_reasons(error))) from None  # FIX(CFG004)


def resolved(config: RunConfig) -> str:
    """All values, defaults included, as JSON that loads as the same configuration."""
    return config.model_dump_json(indent=2) + "\n"


def from_resolved(text: str) -> RunConfig:
    return RunConfig.model_validate_json(text)


def _reasons(error: ValidationError) -> list[Violation]:
    return [
        Violation(
            key=".".join(str(part) for part in found["loc"]), message=f"{found['msg']} (found {found['input']!r})"
        )
        for found in error.errors(include_url=False)
    ]
