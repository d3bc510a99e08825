"""YAML with places."""

import pytest

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.plan.source import Source
from skyrl_doctor.plan.syntax.yaml import leaves, scalar

TEXT = """\
base: &base
  lr: 1e-6
  seed: 3
run:
  <<: *base
  seed: 4
  files: [a, b]
  steps:
    - name: x
    - 3
  'n': yes
  day: 2020-01-01
"""


def test_values_places_and_merges() -> None:
    found = {leaf.key: (leaf.line, leaf.value) for leaf in leaves(Source("f", TEXT)) if not leaf.is_table}
    assert found == {
        "base.lr": (2, 1e-6),
        "base.seed": (3, 3),
        "run.seed": (6, 4),
        "run.files": (7, ["a", "b"]),
        "run.steps[0].name": (9, "x"),
        "run.steps[1]": (10, 3),
        "run.n": (11, True),
        "run.day": (12, "2020-01-01"),
        "run.lr": (2, 1e-6),
    }


def test_the_span_of_a_value_is_the_value() -> None:
    for leaf in leaves(Source("f", TEXT)):
        if not leaf.is_table:
            assert leaf.span is not None
            assert scalar(TEXT[slice(*leaf.span)]) == leaf.value


def test_merging_what_is_no_mapping_is_refused() -> None:
    with pytest.raises(UsageError, match="line 1: << needs a mapping"):
        leaves(Source("f", "<<: 3\n"))
