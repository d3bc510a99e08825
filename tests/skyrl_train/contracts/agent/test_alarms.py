"""Alarms of a run: AGT001, AGT002, AGT015 and AGT019, by their figures."""

from skyrl_train.contracts.agent.alarms import Alarm, live_alarms
from skyrl_train.contracts.agent.finish import Finish
from skyrl_train.contracts.agent.metrics import Counts

QUIET = Counts(rollouts=8, turns=20, calls=9, no_calls=10, ends={Finish.FINISH_TOOL: 8})


NONE = Counts()


def alarms(step: Counts, before: Counts = NONE) -> tuple[Alarm, ...]:
    return live_alarms(step, before + step)


def test_a_healthy_step_is_quiet() -> None:
    assert alarms(QUIET) == alarms(QUIET, QUIET) == ()
    assert alarms(Counts()) == ()


def test_too_few_say_nothing() -> None:
    assert alarms(Counts(rollouts=7, turns=19, no_calls=19, masked=7)) == ()


def test_replies_without_a_call() -> None:
    assert alarms(Counts(rollouts=8, turns=20, calls=1, no_calls=11)) == (
        Alarm("AGT001", "11 of 20 replies have no call; expected at most half of them", 0.55, 0.5),
    )


def test_a_function_that_is_not_offered() -> None:
    assert alarms(Counts(rollouts=1, turns=9, calls=1, unknown_tools=3)) == (
        Alarm("AGT002", "3 of 9 replies call an unknown function; expected 0", 3, 0),
    )


def test_no_call_at_all() -> None:
    assert alarms(Counts(rollouts=4, turns=4), Counts(rollouts=4, turns=4)) == (
        Alarm("AGT015", "no call in the first 8 rollouts; expected at least 1", 0, 1),
    )


def test_a_step_of_which_most_is_masked_says_why() -> None:
    step = Counts(
        rollouts=8,
        turns=40,
        calls=40,
        masked=5,
        ends={Finish.ERROR_RUNTIME: 4, Finish.CANCELLED: 1, Finish.FINISH_TOOL: 3},
    )
    assert alarms(step) == (
        Alarm(
            "AGT019",
            "5 of 8 rollouts of this step are masked; expected at most half of them; most of them ended with error_runtime:"
            " the sandbox failed, not the model",
            0.625,
            0.5,
        ),
    )


def test_a_model_that_forgets_to_finish() -> None:
    step = Counts(rollouts=20, turns=40, calls=40, ends={Finish.FINISH_TOOL: 1, Finish.NO_FUNCTION_CALL: 19})
    assert alarms(step, QUIET) == (
        Alarm(
            "AGT019",
            "5% of this step's rollouts end with finish, compared with 100% before; expected 10% or more",
            0.05,
            0.1,
        ),
    )
    assert alarms(step) == ()
