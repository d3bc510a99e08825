"""The phases of the steps as lanes on one line of time."""

import re

import pytest

from skyrl_doctor.html.phases import MOST_BLOCKS, phases_plot
from skyrl_doctor.watch.observations import Step
from skyrl_doctor.watch.past_steps import StepFault


def step(number: int, **seconds: float) -> Step:
    return Step(at=0.0, step=number, metrics={f"timing_s/{name}": value for name, value in seconds.items()})


def fault(at: int, text: str = "TRN005") -> StepFault:
    return StepFault(id=text, slug="x", file="a.log", line=1, step=at, message="m", advice="", is_error=True)


def label(html: str) -> str:
    (found,) = re.findall(r'aria-label="([^"]*)"', html)
    return str(found)


def bars(html: str) -> list[tuple[str, str, str]]:
    return re.findall(r'<rect class="area (c\d)" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', html)


def test_phases_follow_each_other_in_the_lanes_of_their_names() -> None:
    shown = str(phases_plot([step(1, gen=60.0, update_actor=20.0, step=100.0), step(2, gen=80.0, step=100.0)]))
    assert label(shown) == "Phases of the steps: 2 steps in 3 min: rollouts 70%, policy update 10%, other 20%"
    assert re.findall(r'text-anchor="end">([^<]*)<', shown) == [
        "rollouts 70%",
        "policy update 10%",
        "other 20%",
        "step 2",
    ]
    assert bars(shown) == [
        ("c0", "172", "234"),
        ("c1", "406", "78"),
        ("c2", "484", "78"),
        ("c0", "562", "312"),
        ("c2", "874", "78"),
    ]


def test_faults_and_the_failure_are_marks_with_words() -> None:
    steps = [step(at, gen=10.0) for at in range(1, 5)]
    shown = str(phases_plot(steps, [fault(3)], "CKP003"))
    assert label(shown) == (
        "Phases of the steps: 4 steps in 40 s: rollouts 100%; TRN005 from step 3; CKP003 after step 4"
    )
    assert re.findall(r'<line class="event (\w+)" x1="([\d.]+)"', shown) == [("error", "562"), ("root", "952")]


def test_many_steps_are_joined_in_blocks() -> None:
    shown = str(phases_plot([step(at, gen=10.0) for at in range(1, 20 * MOST_BLOCKS)]))
    assert len(bars(shown)) == MOST_BLOCKS


def test_text_of_a_log_is_text() -> None:
    shown = str(phases_plot([step(1, gen=1.0)], [fault(1, "<script>alert(1)</script>")], '"><script>x'))
    assert "<script" not in shown


@pytest.mark.parametrize(
    "steps", [[], [step(1)], [step(1, step=40.0)], [step(1, gen=float("nan"))], [step(1, gen=-3.0)]]
)
def test_without_the_seconds_of_a_phase_there_is_no_picture(steps: list[Step]) -> None:
    assert phases_plot(steps) is None
