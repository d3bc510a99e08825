"""Our reader of outputs and names in the place of SWE-bench's parsers and grading."""

from collections.abc import Callable
from typing import Any

from benchmarks.suites.swe_bench import harness
from skyrl_train.rewards.output_statuses import statuses_in
from skyrl_train.rewards.swe_names import PASSES, match_names


def read(log: str, test_spec: Any = None) -> dict[str, str]:  # noqa: ARG001 -- as theirs
    """The statuses in a log, by the names that are printed."""
    return statuses_in(log, ())


def passes(case: str, found: dict[str, str]) -> bool:
    return match_names([case], found).get(case) in PASSES


def fails(case: str, found: dict[str, str]) -> bool:
    return not passes(case, found)


def _replace() -> None:
    parsers, grading = harness("log_parsers.python"), harness("grading")
    registry: dict[str, Callable[..., dict[str, str]]] = harness("log_parsers").PARSER_REGISTRY
    for name in [name for name in vars(parsers) if name.startswith("parse_log_")]:
        setattr(parsers, name, read)
        registry[name] = read
    grading.test_passed = grading.test_maintained = passes
    grading.test_failed = fails


_replace()
