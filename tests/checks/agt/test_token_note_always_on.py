"""AGT020."""

from checks.agt.token_note_always_on import token_note_always_on
from plans import MIG20, example, found
from skyrl_doctor.core.model import Location, Severity
from skyrl_doctor.plan.findings import config_finding
from support import plan_of

TASK = "examples/skyrl-agent/verl_oh.yaml"


def test_compares_the_note_with_the_whole_budget() -> None:
    for note, total, told in ((3000, 2048, 1), (3000, 3000, 1), (3000, 3001, 0), (0, 1, 0)):
        made = plan_of(agent__budget_note_tokens=note, data__max_response_tokens=total)
        assert len(list(token_note_always_on(made))) == told


def test_reproduces_the_configuration_of_the_notes() -> None:
    assert found("AGT020", example("examples/skyrl-agent/dev.conf", TASK)) == [
        config_finding(
            'the note "running out of tokens" appears when fewer than 3000 of 2048 tokens are left, which is always; expected generator.max_prompt_length above 3000',
            Location(TASK, 5, "generator.max_prompt_length"),
            {"generator.max_prompt_length": "5048"},
            severity=Severity.WARNING,
        )
    ]


def test_silent_on_the_clean_configuration() -> None:
    assert found("AGT020", example(MIG20)) == []
