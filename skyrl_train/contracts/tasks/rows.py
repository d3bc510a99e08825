"""Reads a row of a data set in any format as a task."""

import json
import re
from dataclasses import dataclass

from skyrl_train.contracts.rewards.score import Unscorable
from skyrl_train.contracts.rewards.suite_run import expectation
from skyrl_train.contracts.sandbox.references import BadReferenceError, parse_reference
from skyrl_train.contracts.typed import Fields, FormatError, as_object, parse_json, parse_object

R2E_GYM, SWE_BENCH = "r2e-gym", "swe-bench"
_EDITED = re.compile(r"^(?:--- a|\+\+\+ b)/([^\t\r\n]+)", re.MULTILINE)
SWE_IMAGES = ("image_name", "docker_image", "image")
"""Columns for the image in data sets like SWE-bench."""
SWE_PUBLISHED = ("test_patch", "eval_script")
"""Columns of SWE-bench's published rows. Their tests are in a patch, and not in the image."""
_BUILD = (
    "build an image with the tests in /r2e_tests and their command in /testbed/run_tests.sh, and name it in image_name"
)
_NOT_RUN = f"with its tests in a patch, not in its image; {_BUILD}, and remove test_patch and eval_script"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRow:
    """A task with everything that a rollout and its reward need.

    `expected` is a JSON object of tests and statuses: for R2E-Gym exactly those of the summary, for SWE-bench those that
    the summary must include. `edits`: the files of the gold patch; the grader keeps tests and configuration unchanged, but
    not these.
    """

    id: str
    source: str
    repo: str
    base_commit: str
    image: str
    problem: str
    expected: str
    edits: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BadRow:
    """An invalid row: its number in the file, and the reason."""

    number: int
    why: str


def read_row(row: object, number: int) -> TaskRow | BadRow:
    """The task of a row with the columns of R2E-Gym, SWE-bench, or SkyRL (`instance`); BadRow if it is invalid."""
    try:
        found = as_object(row)
        instance = found.inner_or_none("instance") or found
        return _swe_bench(instance) if "FAIL_TO_PASS" in [*instance] else _r2e(instance)
    except (FormatError, BadReferenceError) as error:
        return BadRow(number, str(error))


def _r2e(row: Fields) -> TaskRow:
    image = _text(row, "docker_image", "instance_id")
    expected = _text(row, "expected_output_json")
    statuses = expectation(expected)
    if isinstance(statuses, Unscorable):
        raise row.error("expected_output_json:", statuses.detail)
    return TaskRow(
        id=image.rpartition("/")[2],
        source=R2E_GYM,
        repo=_text(row, "repo_name", "repo"),
        base_commit=_text(row, "commit_hash", "base_commit"),
        image=_image(image),
        problem=_text(row, "problem_statement"),
        expected=expected,
        edits=edited_files(row),
    )


def _swe_bench(row: Fields) -> TaskRow:
    name = _text(row, "instance_id")
    tests = [*_names(row, "FAIL_TO_PASS"), *_names(row, "PASS_TO_PASS")]
    if not _names(row, "FAIL_TO_PASS"):
        raise row.error("FAIL_TO_PASS", "is empty: the task would be solved from the start")
    images = [column for column in SWE_IMAGES if column in row]
    if published := next((column for column in SWE_PUBLISHED if row.value(column)), None):
        raise row.error(published, f"is set: the row has SWE-bench's published format, {_NOT_RUN}")
    if not images:
        raise row.error("image_name", f"is missing: the published image {swe_bench_image(name)} has no tests; {_BUILD}")
    return TaskRow(
        id=name,
        source=SWE_BENCH,
        repo=_text(row, "repo"),
        base_commit=_text(row, "base_commit"),
        image=_image(_text(row, images[0])),
        problem=_text(row, "problem_statement"),
        expected=json.dumps(dict.fromkeys(tests, "PASSED")),
        edits=edited_files(row),
    )


def edited_files(row: Fields) -> tuple[str, ...]:
    """The files that the gold patch of a row changes; none if it has no readable one."""
    patch = row.value("patch")
    if isinstance(patch, str):
        return tuple(dict.fromkeys(_EDITED.findall(patch)))
    try:
        diffs = parse_object(row.text("parsed_commit_content")).objects("file_diffs")
        return tuple(diff.inner("header").inner("file").text("path") for diff in diffs)
    except FormatError:
        return ()


def _text(row: Fields, *names: str) -> str:
    """The text of the first of these columns that exists. An empty or blank column is an error."""
    name = next((name for name in names if name in row), None)
    if name is None:
        raise row.error(" or ".join(names), "is missing")
    value = row.text(name)
    if not value.strip():
        raise row.error(name, "is empty")
    half = half_character(value)
    if half is not None:
        raise row.error(name, f"contains an incomplete character ({half})")
    return value


def half_character(text: str) -> str | None:
    """The first half of a surrogate pair in a text, or None. Cut emojis have one; parquet and tokenizers refuse it."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"\\u{ord(text[error.start]):04x}"
    return None


def _names(row: Fields, name: str) -> tuple[str, ...]:
    """The list of tests in a column, which some data sets store as JSON text."""
    value = row.value(name)
    if isinstance(value, str):
        try:
            value = parse_json(value)
        except FormatError as error:
            raise row.error(name, error.problem) from error
    missing = () if name not in [*row] else None
    return Fields({name: value}, row.source, row.path).texts(name, missing)


def swe_bench_image(instance_id: str) -> str:
    """The published image of a task without an image column: `django__django-11099` -> `…django_1776_django-11099`."""
    return f"swebench/sweb.eval.x86_64.{instance_id.replace('__', '_1776_')}:latest".lower()


def _image(name: str) -> str:
    """The image name for Podman, with its registry. Raises BadReferenceError."""
    return str(parse_reference(name.strip()))
