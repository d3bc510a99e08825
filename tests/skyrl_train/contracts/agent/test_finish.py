"""Which rollouts are trained on."""

import re
from pathlib import Path

from skyrl_train.contracts.agent.finish import MASKED, TRAINED, Finish

DOCS = Path(__file__).parents[4] / "docs" / "agent-loop.md"

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


def test_the_documentation_lists_each_end_and_whether_it_counts() -> None:
    rows = re.findall(r"^\| `(\w+)` \| .* \| (yes|masked) \|$", DOCS.read_text(encoding="utf-8"), re.MULTILINE)
    assert dict(rows) == {**dict.fromkeys(map(str, TRAINED), "yes"), **dict.fromkeys(map(str, MASKED), "masked")}
