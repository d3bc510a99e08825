"""Reads a row of a data set in any format as a task."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skyrl_train.rewards.run import expectation
from skyrl_train.rewards.score import Unscorable
from skyrl_train.sandbox.references import BadReferenceError, parse_reference

R2E_GYM, SWE_BENCH = "r2e-gym", "swe-bench"
SWE_IMAGES = ("image_name", "docker_image", "image")
"""Columns for the image in data sets like SWE-bench. SWE-bench's own rows have none of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRow:
    """A task with everything that a rollout and its reward need.

    `expected` is a JSON object of tests and statuses: for R2E-Gym exactly those of the summary, for SWE-bench those that
    the summary must include.
    """

    id: str
    source: str
    repo: str
    base_commit: str
    image: str
    problem: str
    expected: str


@dataclass(frozen=True, slots=True)
class BadRow:
    """An invalid row: its number in the file, and the reason."""

    number: int
    why: str


class _RowError(ValueError):
    pass


def read_row(row: object, number: int) -> TaskRow | BadRow:
    """The task of a row with the columns of R2E-Gym, SWE-bench, or SkyRL (`instance`); BadRow if it is invalid."""
    try:
        if not isinstance(row, Mapping):
            raise _RowError(f"a row is a {type(row).__name__}; expected an object")
        instance = row.get("instance", row)
        if not isinstance(instance, Mapping):
            raise _RowError("`instance` is not an object")
        return _swe_bench(instance) if "FAIL_TO_PASS" in instance else _r2e(instance)
    except _RowError as error:
        return BadRow(number, str(error))


def _r2e(row: Mapping[str, object]) -> TaskRow:
    image = _text(row, "docker_image", "instance_id")
    expected = _text(row, "expected_output_json")
    statuses = expectation(expected)
    if isinstance(statuses, Unscorable):
        raise _RowError(f"expected_output_json: {statuses.detail}")
    return TaskRow(
        id=image.rpartition("/")[2],
        source=R2E_GYM,
        repo=_text(row, "repo_name", "repo"),
        base_commit=_text(row, "commit_hash", "base_commit"),
        image=_image(image),
        problem=_text(row, "problem_statement"),
        expected=expected,
    )


def _swe_bench(row: Mapping[str, object]) -> TaskRow:
    name = _text(row, "instance_id")
    tests = [*_names(row, "FAIL_TO_PASS"), *_names(row, "PASS_TO_PASS")]
    if not _names(row, "FAIL_TO_PASS"):
        raise _RowError("FAIL_TO_PASS is empty: the task would be solved from the start")
    return TaskRow(
        id=name,
        source=SWE_BENCH,
        repo=_text(row, "repo"),
        base_commit=_text(row, "base_commit"),
        image=_image(_text({"image": swe_bench_image(name), **_set_columns(row, SWE_IMAGES)}, *SWE_IMAGES)),
        problem=_text(row, "problem_statement"),
        expected=json.dumps(dict.fromkeys(tests, "PASSED")),
    )


def _text(row: Mapping[str, object], *names: str) -> str:
    """The text of the first of these columns that exists. An empty or blank column is an error."""
    name = next((name for name in names if row.get(name) is not None), None)
    if name is None:
        raise _RowError(f"{' or '.join(names)} is missing")
    value = row[name]
    if not isinstance(value, str):
        raise _RowError(f"{name} is a {type(value).__name__}; expected text")
    if not value.strip():
        raise _RowError(f"{name} is empty")
    half = half_character(value)
    if half is not None:
        raise _RowError(f"{name} contains an incomplete character ({half})")
    return value


def half_character(text: str) -> str | None:
    """The first half of a surrogate pair in a text, or None. Cut emojis have one; parquet and tokenizers refuse it."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"\\u{ord(text[error.start]):04x}"
    return None


def _names(row: Mapping[str, object], name: str) -> list[str]:
    """The list of tests in a column, which some data sets store as JSON text."""
    value = row.get(name, [])
    try:
        names = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError) as error:
        raise _RowError(f"{name} is not valid JSON: {error}") from error
    if not isinstance(names, list) or not all(isinstance(test, str) for test in names):
        raise _RowError(f"{name} is not a list of names")
    return names


def _set_columns(row: Mapping[str, object], names: Sequence[str]) -> dict[str, object]:
    """The given columns that are set."""
    return {name: row[name] for name in names if row.get(name) is not None}


def swe_bench_image(instance_id: str) -> str:
    """The published image of a task without an image column: `django__django-11099` -> `…django_1776_django-11099`."""
    return f"swebench/sweb.eval.x86_64.{instance_id.replace('__', '_1776_')}:latest".lower()


def _image(name: str) -> str:
    """The image name for Podman, with its registry."""
    try:
        return str(parse_reference(name.strip()))
    except BadReferenceError as error:
        raise _RowError(str(error)) from error
