"""The overrides that a program refuses."""

import importlib.util
from pathlib import Path

SPEC = importlib.util.spec_from_file_location(
    "culprits", Path(__file__).parents[3] / "benchmarks/field/children/culprits.py"
)
assert SPEC is not None
assert SPEC.loader is not None
CULPRITS = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(CULPRITS)


def test_each_refused_override_is_found_with_and_without_a_key_in_the_message() -> None:
    def attempt(overrides: list[str]) -> None:
        for text in overrides:
            if text.startswith("named"):
                raise ValueError(f"Could not override '{text.partition('=')[0]}'")
            if text.startswith("bad"):
                raise ValueError("no")

    refused, broken = CULPRITS.culprits(["a=1", "named.x=1", "b=2", "bad=3", "c=4", "bad=5"], attempt)
    assert (refused, broken) == (
        {
            "named.x=1": "ValueError: Could not override 'named.x'",
            "bad=3": "ValueError: no",
            "bad=5": "ValueError: no",
        },
        "",
    )


def test_a_program_that_refuses_everything_is_broken() -> None:
    def attempt(overrides: list[str]) -> None:
        raise ValueError(f"no file, {len(overrides)}")

    assert CULPRITS.culprits(["a=1"], attempt) == ({}, "ValueError: no file, 1")
