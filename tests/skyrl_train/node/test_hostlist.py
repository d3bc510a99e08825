"""Slurm's short form of several names."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.node.hostlist import NotAHostlist, expand


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("gpu1", ("gpu1",)),
        ("gpu1,gpu2", ("gpu1", "gpu2")),
        ("gpu[1-3,7]", ("gpu1", "gpu2", "gpu3", "gpu7")),
        ("gpu[08-11],cpu1", ("gpu08", "gpu09", "gpu10", "gpu11", "cpu1")),
        ("r[1-2]n[1-2]", ("r1n1", "r1n2", "r2n1", "r2n2")),
        ("a[1]-ib,a[1]-ib", ("a1-ib",)),
        ("", ()),
    ],
)
def test_names_each_node(text: str, names: tuple[str, ...]) -> None:
    assert expand(text) == names


@pytest.mark.parametrize("text", ["gpu[", "gpu[]", "gpu[a-b]", "gpu[3-1]", "gpu[1-", "a]b", "n[1-999999999]"])
def test_what_is_no_list_is_refused(text: str) -> None:
    with pytest.raises(NotAHostlist):
        expand(text)


@given(st.text("gpu[]-,0123 \n", max_size=30))
def test_no_text_does_anything_else(text: str) -> None:
    with contextlib.suppress(NotAHostlist):
        assert all(expand(text)) or not expand(text)
