"""One row of a data set, in any of its shapes, as a task; or why it is none."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skyrl_train.contracts.rewards.score import Unscorable
from skyrl_train.contracts.rewards.suite_run import expectation
from skyrl_train.contracts.sandbox.references import BadReferenceError, parse_reference

R2E_GYM, SWE_BENCH = "r2e-gym", "swe-bench"
SWE_IMAGES = ("image_name", "docker_image", "image")
"""Columns in which data sets like SWE-bench name an image; SWE-bench's own rows have none of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRow:
    """What a rollout and its reward need. `expected` is a JSON object of tests and statuses: for R2E-Gym all that the
    summary may name, for SWE-bench those that must be among it.
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
    """A row that is dropped, by its number in the file, and why."""

    number: int
    why: str


class _RowError(ValueError):
    pass


def read_row(row: object, number: int) -> TaskRow | BadRow:
    """R2E-Gym's own columns, SkyRL's `instance` column that holds them under other names, or those of SWE-bench."""
    try:
        if not isinstance(row, Mapping):
            raise _RowError(f"a row is a {type(row).__name__}, wanted an object")
        instance = row.get("instance", row)
        if not isinstance(instance, Mapping):
            raise _RowError("`instance` is no object")
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
        raise _RowError("FAIL_TO_PASS is empty: the task would be solved before it begins")
    return TaskRow(
        id=name,
        source=SWE_BENCH,
        repo=_text(row, "repo"),
        base_commit=_text(row, "base_commit"),
        image=_image(_text({"image": swe_bench_image(name), **_said(row, SWE_IMAGES)}, *SWE_IMAGES)),
        problem=_text(row, "problem_statement"),
        expected=json.dumps(dict.fromkeys(tests, "PASSED")),
    )


def _text(row: Mapping[str, object], *names: str) -> str:
    """The first of these columns that is there. Present but empty is an error, and so is white space only."""
    name = next((name for name in names if row.get(name) is not None), None)
    if name is None:
        raise _RowError(f"{' or '.join(names)} is missing")
    value = row[name]
    if not isinstance(value, str):
        raise _RowError(f"{name} is a {type(value).__name__}, wanted text")
    if not value.strip():
        raise _RowError(f"{name} is empty")
    half = half_character(value)
    if half is not None:
        raise _RowError(f"{name} holds half a character ({half})")
    return value


def half_character(text: str) -> str | None:
    """Half of a surrogate pair, as JSON of an emoji that was cut holds it: neither parquet nor a tokenizer takes it."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"\\u{ord(text[error.start]):04x}"
    return None


def _names(row: Mapping[str, object], name: str) -> list[str]:
    """A list of tests, which some data sets hold as JSON text."""
    value = row.get(name, [])
    try:
        names = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError) as error:
        raise _RowError(f"{name} is no JSON: {error}") from error
    if not isinstance(names, list) or not all(isinstance(test, str) for test in names):
        raise _RowError(f"{name} is no list of names")
    return names


def _said(row: Mapping[str, object], names: Sequence[str]) -> dict[str, object]:
    """Of these columns those that hold something."""
    return {name: row[name] for name in names if row.get(name) is not None}


def swe_bench_image(instance_id: str) -> str:
    """The published image of a task whose row names none: `django__django-11099` -> `…django_1776_django-11099`."""
    return f"swebench/sweb.eval.x86_64.{instance_id.replace('__', '_1776_')}:latest".lower()


def _image(name: str) -> str:
    """The name as Podman takes it, its registry spelt out."""
    try:
        return str(parse_reference(name.strip()))
    except BadReferenceError as error:
        raise _RowError(str(error)) from error
