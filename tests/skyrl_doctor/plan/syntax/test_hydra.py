"""Hydra's override grammar."""

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.plan.syntax.hydra import Override, OverrideError, looks_like_override, parse, parse_value

VALUES: dict[str, Any] = {
    "": "",
    "3": 3,
    "1_000": 1000,
    "007": "007",
    "1e-6": 1e-6,
    ".5": 0.5,
    "True": True,
    "null": None,
    "yes": "yes",
    "[1,2]": [1, 2],
    "['a.parquet', \"b\"]": ["a.parquet", "b"],
    "[]": [],
    "{a: 1, 'b': [x]}": {"a": 1, "b": ["x"]},
    "{}": {},
    "'3'": "3",
    "'it\\'s'": "it's",
    r"'.*\.q_proj'": r".*\.q_proj",
    r"'a\\b'": r"a\\b",  # backslashes mean themselves, but for those before a quote and at the end
    r"'a\\'": "a\\",
    r"'a\\\'b\"'": "a\\'b\\\"",
    "$HOME/x*.parquet?": "$HOME/x*.parquet?",
    "a\\b": "a\\b",
    "Qwen/Qwen2.5-Coder-0.5B": "Qwen/Qwen2.5-Coder-0.5B",
    "${data.x}": "${data.x}",
    "${oc.select:a,[1,2]}": "${oc.select:a,[1,2]}",
    "a:b": "a:b",
    "a\\,b": "a,b",
    "6:00:00": "6:00:00",
}


@pytest.mark.parametrize("text", sorted(VALUES))
def test_values(text: str) -> None:
    found = parse_value(text)
    assert (found, type(found)) == (VALUES[text], type(VALUES[text]))


@pytest.mark.parametrize(
    "text", ["1,2", "[1", "{a}", "'open", "[1]]", "a[", "${open", "choice(a)", "[,1]", "~/x", "a=b", "a;b", "ä"]
)
def test_refusals(text: str) -> None:
    with pytest.raises(OverrideError):
        parse_value(text)


def test_modes() -> None:
    assert parse("+a.b=1") == Override("a.b", 1, "+")
    assert parse("++a=x") == Override("a", "x", "++")
    assert parse("~a.b") == Override("a.b", None, "~", has_value=False)
    assert parse("actor@actor_rollout_ref.actor=x") == Override("actor", "x", "", "actor_rollout_ref.actor")
    assert [text for text in ("a=b", "a", "--x=1", "~a", "=b") if looks_like_override(text)] == ["a=b", "~a"]


@given(st.text(alphabet="ab1.,[]{}:'\"\\$ =", max_size=30))
def test_no_text_crashes(text: str) -> None:
    with contextlib.suppress(OverrideError):
        parse(f"a={text}")
