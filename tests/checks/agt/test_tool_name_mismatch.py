"""AGT002."""

from checks.agt.tool_name_mismatch import tool_name_mismatch
from plans import MIG20, example, found, plan, verdict
from skyrl_doctor.core.model import Location, Status
from skyrl_doctor.plan.findings import config_finding
from support import plan_of

ALL = {"agent.tools": '["terminal", "file_editor", "finish", "think"]'}


def test_names_and_old_names_are_known_and_finish_is_needed() -> None:
    for tools, told in (
        (["terminal", "finish"], 0),
        (["execute_bash", "str_replace_editor", "finish"], 0),
        (["browser", "finish"], 1),
        (["terminal"], 1),
        ([], 1),
        (["Terminal", ""], 3),
    ):
        assert len(list(tool_name_mismatch(plan_of(agent__tools=tools)))) == told


def test_reproduces_on_a_configuration() -> None:
    place = Location("run.toml", 2, "agent.tools")
    assert found("AGT002", plan('[agent]\ntools = ["terminal", "browser"]\n')) == [
        config_finding(
            "agent.tools offers 'browser', which the parser of calls does not know; expected some of terminal, file_editor, finish, think",
            place,
            ALL,
        ),
        config_finding(
            "agent.tools has no finish, so no rollout can end by itself; expected it among terminal, file_editor, finish, think",
            place,
            ALL,
        ),
    ]


def test_silent_on_the_clean_configuration() -> None:
    assert found("AGT002", example(MIG20)) == []
    assert verdict("AGT002", plan_of()) == (Status.SKIP, "the configuration names no tools")
