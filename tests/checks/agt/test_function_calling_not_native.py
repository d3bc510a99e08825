"""AGT001."""

import pytest

from checks.agt.function_calling_not_native import function_calling_not_native
from plans import MIG20, example, found, plan, verdict
from skyrl_doctor.core.model import Location, Status
from skyrl_doctor.plan.findings import config_finding
from skyrl_train.contracts.agent.golden_reply import GOLDEN, breaking_stop
from support import plan_of


@pytest.mark.parametrize(
    ("stops", "keep", "told"),
    [
        (["</function>"], True, 0),
        (["</function"], False, 0),
        (["</function>"], False, 0),
        (["<|im_end|>", "Observation:"], False, 0),
        (["</parameter>"], True, 1),
        (["\n\n"], False, 1),
        (["<"], False, 1),
        (["</function>", "\n\n"], True, 1),
    ],
)
def test_a_call_must_survive_the_stop_text(stops: list[str], keep: bool, told: int) -> None:
    made = plan_of(rollout__stop=stops, rollout__keep_stop=keep)
    assert len(list(function_calling_not_native(made))) == told


def test_the_golden_reply_is_what_the_parser_takes() -> None:
    assert breaking_stop([], keep=False) is None
    assert breaking_stop([GOLDEN], keep=True) is None


def test_reproduces_on_a_configuration() -> None:
    text = '[rollout]\nstop = ["</parameter>"]\n'
    assert found("AGT001", plan(text)) == [
        config_finding(
            "rollout.stop contains '</parameter>', which occurs inside every function call; expected only '</function'",
            Location("run.toml", 2, "rollout.stop"),
            {"rollout.stop": '["</function"]'},
        )
    ]


def test_silent_on_the_clean_configuration() -> None:
    assert found("AGT001", example(MIG20)) == []
    assert verdict("AGT001", plan_of()) == (Status.SKIP, "the configuration sets no stop text")
