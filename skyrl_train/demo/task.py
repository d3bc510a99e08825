"""The record of a demo task."""

from collections.abc import Mapping
from dataclasses import dataclass

REPOSITORY = "{repository}"
"""Placeholder in a reply for the path of the repository, which differs for each temporary directory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoTask:
    """A repository with a fault, its fixed files, the tests that detect the fault, and the replies of a model that fixes it."""

    name: str
    problem: str
    files: Mapping[str, str]
    gold: Mapping[str, str]
    tests: Mapping[str, str]
    expected: Mapping[str, str]
    replies: tuple[str, ...]


def call(tool: str, **parameters: str) -> str:
    """A function call as a model writes it."""
    lines = [f"<parameter={name}>{_wrapped(value)}</parameter>" for name, value in parameters.items()]
    return "\n".join([f"<function={tool}>", *lines, "</function>"])


def _wrapped(value: str) -> str:
    return f"\n{value}\n" if "\n" in value else value
