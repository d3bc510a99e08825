"""Rows of data sets."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.contracts.tasks.rows import BadRow, TaskRow, read_row

R2E = {
    "repo_name": "orange3",
    "docker_image": "namanjain12/orange3_final:2d9617bd",
    "commit_hash": "2d9617bd",
    "problem_statement": "It fails.",
    "expected_output_json": '{"TestX.test_a": "PASSED"}',
    "prompt": "…",
}
TASK = TaskRow(
    id="orange3_final:2d9617bd",
    source="r2e-gym",
    repo="orange3",
    base_commit="2d9617bd",
    image="docker.io/namanjain12/orange3_final:2d9617bd",
    problem="It fails.",
    expected='{"TestX.test_a": "PASSED"}',
)
SKYRL = {
    "prompt": "It fails.",
    "data_source": "r2e-gym",
    "ability": "coding",
    "instance": {
        "instance_id": R2E["docker_image"],
        "repo": "orange3",
        "base_commit": "2d9617bd",
        "problem_statement": "It fails.",
        "expected_output_json": R2E["expected_output_json"],
    },
}
SWE = {
    "instance_id": "sympy__sympy-1",
    "repo": "sympy/sympy",
    "base_commit": "abc",
    "problem_statement": "It fails.",
    "FAIL_TO_PASS": '["test_a"]',
    "PASS_TO_PASS": ["test_b"],
    "image_name": "ghcr.io/x/sympy:1",
}


def test_r2e_gym_as_published_and_as_skyrl_stores_it() -> None:
    assert read_row(R2E, 1) == TASK
    assert read_row(SKYRL, 1) == TASK


def test_swe_bench() -> None:
    assert read_row(SWE, 1) == TaskRow(
        id="sympy__sympy-1",
        source="swe-bench",
        repo="sympy/sympy",
        base_commit="abc",
        image="ghcr.io/x/sympy:1",
        problem="It fails.",
        expected='{"test_a": "PASSED", "test_b": "PASSED"}',
    )


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ([], "it is an empty list; expected an object"),
        ({"instance": 1}, "instance is 1; expected an object"),
        ({**R2E, "docker_image": None}, "docker_image or instance_id is missing"),
        ({**R2E, "docker_image": ["a"]}, "docker_image is a list; expected text"),
        ({**R2E, "docker_image": "a b"}, "image 'a b': contains white space"),
        ({**R2E, "problem_statement": " \n"}, "problem_statement is empty"),
        ({**R2E, "expected_output_json": "{}"}, "no expected tests: a run without tests would score 1"),
        ({**R2E, "expected_output_json": "[1]"}, "it is a list; expected an object"),
        ({**SWE, "FAIL_TO_PASS": []}, "FAIL_TO_PASS is empty: the task would be solved from the start"),
        ({**SWE, "PASS_TO_PASS": "test_b"}, "PASS_TO_PASS is not JSON: "),
        ({**SWE, "PASS_TO_PASS": [1]}, "PASS_TO_PASS[0] is 1; expected text"),
    ],
)
def test_a_bad_row_says_what_is_wrong_with_it(row: Any, why: str) -> None:
    bad = read_row(row, 7)
    assert isinstance(bad, BadRow)
    assert bad.number == 7
    assert bad.why.removeprefix("expected_output_json: ").startswith(why)


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("namanjain12/x_final:1", "docker.io/namanjain12/x_final:1"),
        ("ubuntu:22.04", "docker.io/library/ubuntu:22.04"),
        (f" ghcr.io/x/y@sha256:{'0' * 64} ", f"ghcr.io/x/y@sha256:{'0' * 64}"),
    ],
)
def test_an_image_always_names_its_registry(name: str, reference: str) -> None:
    row = read_row({**SWE, "image_name": name}, 1)
    assert isinstance(row, TaskRow)
    assert row.image == reference


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*R2E, *SWE, "instance"]), inner),
)


@given(JSON)
def test_any_json_is_a_task_or_a_bad_row(row: Any) -> None:
    result = read_row(row, 1)
    assert isinstance(result, BadRow) or json.loads(result.expected)


BUILD = (
    "build an image with the tests in /r2e_tests and their command in /testbed/run_tests.sh, and name it in image_name"
)
PUBLISHED = (
    "{} is set: the row has SWE-bench's published format, with its tests in a patch, not in its image; "
    f"{BUILD}, and remove test_patch and eval_script"
)
NO_IMAGE = (
    "image_name is missing: the published image swebench/sweb.eval.x86_64.sympy_1776_sympy-1:latest has no tests; "
    f"{BUILD}"
)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"test_patch": "diff --git a/tests/test_a.py b/tests/test_a.py"}, PUBLISHED.format("test_patch")),
        ({"test_patch": "", "eval_script": "#!/bin/bash\npytest"}, PUBLISHED.format("eval_script")),
        ({"image_name": None}, NO_IMAGE),
    ],
)
def test_a_row_of_swe_bench_as_published_is_refused_by_name(changed: dict[str, Any], why: str) -> None:
    row = {**SWE, "instance_id": "Sympy__sympy-1", **changed}
    assert read_row({name: value for name, value in row.items() if value is not None}, 3) == BadRow(3, why)
