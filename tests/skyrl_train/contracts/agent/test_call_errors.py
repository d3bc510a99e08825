"""Texts for the model."""

import re
from pathlib import Path

from skyrl_train.contracts.agent.call_errors import call_error
from skyrl_train.contracts.agent.calls import CallErrorKind, Span

DOCS = Path(__file__).parents[4] / "docs" / "agent-calls.md"


def test_every_kind_has_a_text_of_its_own() -> None:
    texts = [call_error(kind, Span(0, 1), subject="x", expected="y").text for kind in CallErrorKind]
    assert len(set(texts)) == len(CallErrorKind)


def test_names_of_the_model_are_shortened_and_may_hold_braces() -> None:
    error = call_error(CallErrorKind.UNKNOWN_TOOL, Span(0, 1), subject="{0}" * 100, expected="terminal")
    assert (
        error.text == f"The function '{('{0}' * 100)[:80]}…' does not exist, so nothing was run. Functions: terminal."
    )


def test_every_kind_is_documented() -> None:
    documented = set(re.findall(r"`(\w+)`", DOCS.read_text(encoding="utf-8")))
    assert set(map(str, CallErrorKind)) <= documented
