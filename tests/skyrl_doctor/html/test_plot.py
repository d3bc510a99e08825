"""Plots of few values: what a reader sees of one step, one value or a constant."""

import re

import pytest

from skyrl_doctor.html.plot import (
    GRID_HEIGHT,
    HEIGHT,
    LEFT,
    WIDTH,
    Kind,
    Series,
    _label,
    grid_plot,
    line_plot,
    stack_plot,
)

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


def test_a_single_value_is_a_dot_at_its_own_label() -> None:
    picture = str(line_plot("reward", Series("reward", ((3, 0.5),))))
    dot = re.search(r'<circle class="dot" cx="([\d.]+)" cy="([\d.]+)" r="3"', picture)
    assert dot is not None
    assert "polyline" not in picture
    assert "<b>reward</b> 0.5</figcaption>" in picture
    assert [(float(found["y"]) - 4, found["text"]) for found in LABEL.finditer(picture)] == [(float(dot[2]), "0.5")]


def test_a_constant_runs_at_its_own_label() -> None:
    picture = str(line_plot("lr", Series("lr", ((1, 1e-6), (2, 1e-6), (3, 1e-6)))))
    assert "<b>lr</b> 1e-06 at every step</figcaption>" in picture
    heights = set(re.findall(r"[\d.]+,([\d.]+)", re.search(r'points="([^"]*)"', picture)[1]))  # type: ignore[index] # found below
    labels = [(float(found["y"]) - 4, found["text"]) for found in LABEL.finditer(picture) if float(found["x"]) < LEFT]
    assert labels == [(float(height), "1e-6") for height in heights]


def test_the_parts_of_a_single_step_are_bars() -> None:
    picture = str(stack_plot("seconds", [Series("update", ((1, 2.0),)), Series("rollout", ((1, 6.0),))]))
    areas = [re.findall(r"([\d.]+),([\d.]+)", path) for path in re.findall(r' d="M([^"]*)Z"', picture)]
    assert [len({x for x, _ in area}) for area in areas] == [2, 2]
    assert all(0 < float(x) < WIDTH and 0 < float(y) < HEIGHT for area in areas for x, y in area)


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
