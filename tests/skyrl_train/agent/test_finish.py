"""Which rollouts are trained on."""

from skyrl_train.agent.finish import MASKED, TRAINED, Finish

IN_SKYRL = {
    "CONTEXT_WINDOW_EXCEEDED",
    "error_runtime",
    "error_evaluation",
    "max_iterations_reached",
    "BAD_LLM_RESPONSE",
    "stuck_in_a_loop",
    "cmd_timeout",
}


def test_every_end_is_either_trained_on_or_masked() -> None:
    assert sorted([*MASKED, *TRAINED]) == sorted(Finish)


def test_the_table_differs_from_skyrl_where_it_says_so() -> None:
    ours = {Finish.ROLLOUT_TIMEOUT, Finish.ERROR_MODEL, Finish.CANCELLED}
    assert set(MASKED) - ours == {*IN_SKYRL, Finish.ERROR_INITIALIZATION}
