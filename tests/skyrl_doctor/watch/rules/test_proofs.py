"""A run that proved its weights and stopped is named; one that never did is not."""

from skyrl_doctor.watch.rules.proofs import RULE
from watching import brief, play, steps, texts

STEP = {"actor/grad_norm": 0.4, "actor/loss": 0.1}
PROVEN = {**STEP, "weights/probe_difference": 0.005}
VALIDATED = {"val-core/x/acc/mean@1": 0.5}


def test_three_steps_without_a_proof_are_named_once_and_the_next_proof_ends_it() -> None:
    said = play(RULE, steps(PROVEN, PROVEN, STEP, STEP, STEP, STEP, PROVEN))
    assert brief(said) == [(150.0, "TRN021.unproven"), (210.0, "-TRN021.unproven")]
    assert texts(said) == [
        "the last 3 steps have no weights/probe_difference, and step 2 has it; expected a proof of the weights after each sync"
    ]


def test_a_run_that_never_proved_its_weights_is_not_named() -> None:
    assert play(RULE, steps(*[STEP] * 10)) == []


def test_a_step_in_several_lines_counts_once_and_a_validation_does_not() -> None:
    one, two, *others = steps(PROVEN, STEP, VALIDATED, VALIDATED, STEP, PROVEN)
    assert play(RULE, [one, one, two, two, two, *others]) == []


def test_a_proof_of_another_line_of_the_same_step_counts() -> None:
    first, second = steps(PROVEN, STEP)
    assert play(RULE, [first, *[second] * 5, *steps(STEP) * 5]) == []
