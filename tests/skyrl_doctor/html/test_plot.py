"""Plots of few values: what a reader sees of one step, one value or a constant."""

import re
from pathlib import Path

import pytest

from job_samples import transcript
from skyrl_doctor.html.plot import (
    GRID_HEIGHT,
    Kind,
    Series,
    _label,
    grid_plot,
    line_plot,
)
from skyrl_doctor.html.training import rollouts_section
from skyrl_train.agent.journal import append
from skyrl_train.contracts.rollout_summaries import read

GOOD, BAD = Kind("solved", "solved"), Kind("failed", "with reward 0")
SQUARE = re.compile(r"M([\d.]+),([\d.]+)h([\d.]+)v([\d.]+)h-([\d.]+)z")
LABEL = re.compile(r'<text x="(?P<x>[\d.]+)" y="(?P<y>[\d.]+)" text-anchor="end">(?P<text>[^<]*)<')


def box(picture: str) -> tuple[float, float]:
    found = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', picture)
    assert found is not None
    return float(found[1]), float(found[2])


@pytest.mark.parametrize(("steps", "rollouts"), [(1, 1), (1, 3), (1, 1024), (3, 64), (40, 128), (500, 16), (2000, 8)])
def test_each_rollout_is_one_square_that_no_other_covers(steps: int, rollouts: int) -> None:
    picture = str(grid_plot("Rollouts", [(step, [GOOD, BAD] * rollouts) for step in range(steps)]))
    squares = [tuple(map(float, found)) for found in SQUARE.findall(picture)]
    assert len(squares) == len({(x, y) for x, y, *_ in squares}) == 2 * steps * rollouts
    assert {wide - high for _, _, wide, high, _ in squares} == {0.0}
    width, height = box(picture)
    assert max(x + wide for x, _, wide, *_ in squares) <= width
    assert max(y + high for _, y, _, high, _ in squares) <= height
    assert height <= GRID_HEIGHT or squares[0][2] <= 2
    assert "preserveAspectRatio" not in picture


def test_the_only_step_has_its_number() -> None:
    assert "Rollouts</b> step 7<" in str(grid_plot("Rollouts", [(7, [GOOD])]))


def test_rollouts_without_a_step_are_squares_and_no_curves(tmp_path: Path) -> None:
    append(tmp_path / "some.jsonl", transcript())
    summaries = [one for _, one in read(str(tmp_path / "some.jsonl")) if one is not None]
    page = str(rollouts_section([(None, one) for one in summaries * 2]))
    assert "Rollouts</b> without a step<" in page
    assert len(SQUARE.findall(page)) == 2
    assert "mean turns of a rollout" not in page


@pytest.mark.parametrize(
    ("value", "label"),
    [
        (0.0, "0"),
        (0.125, "0.125"),
        (1480.0, "1480"),
        (12345.0, "12.35k"),
        (-123456.0, "-123.5k"),
        (-0.00456, "-0.0046"),
        (7.6e9, "7.6G"),
        (-1.23e-6, "-1.2e-6"),
        (3e13, "3e13"),
    ],
)
def test_a_label_fits_beside_its_axis(value: float, label: str) -> None:
    assert _label(value) == label
    assert len(label) <= 7


def test_a_figure_has_each_number_once_and_in_the_same_digits() -> None:
    drawn = str(line_plot("loss", Series("loss", ((1, 5.3333333), (2, 0.00058571), (3, 2.0)))))
    assert re.findall(r"<figcaption><b>loss</b> (.*?)</figcaption>", drawn) == ["2 at the last step"]
    assert [found["text"] for found in LABEL.finditer(drawn)] == ["5.9e-4", "5.33", "3"]
    assert re.findall(r'aria-label="(.*?)"', drawn) == ["loss: 2 at the last step; 5.9e-4 to 5.33"]
