"""Which image a row asks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.contracts.tasks.images import TaskImage, image_of


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ({"docker_image": "namanjain12/pandas_final:ab"}, TaskImage("namanjain12/pandas_final:ab", "r2e-gym")),
        ({"instance": {"instance_id": "a/bc:1"}, "data_source": "r2e-gym"}, TaskImage("a/bc:1", "r2e-gym")),
        ({"extra_info": {"image": "docker.io/a/bc:1"}, "data_source": "mine"}, TaskImage("docker.io/a/bc:1", "mine")),
        (
            {"instance_id": "sympy__sympy-1", "image_name": "swe/x:1", "FAIL_TO_PASS": "[]"},
            TaskImage("swe/x:1", "swe-bench"),
        ),
        (
            {"instance_id": "django__django-11099", "FAIL_TO_PASS": "[]"},
            TaskImage("swebench/sweb.eval.x86_64.django_1776_django-11099:latest", "swe-bench"),
        ),
        ({"docker_image": "", "image": None}, None),
        ({"docker_image": ["a/bc:1"]}, None),
        ([], None),
    ],
)
def test_finds_the_image(row: object, found: TaskImage | None) -> None:
    assert image_of(row) == found


@given(
    st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.dictionaries(st.text(), inner), max_leaves=9)
)
def test_any_row_is_read(row: object) -> None:
    assert image_of(row) is None or image_of(row) == image_of(row)
