"""What the model is told of its tools."""

from skyrl_train.agent.call_format import format_call
from skyrl_train.contracts.agent.call_parser import parse_call
from skyrl_train.contracts.agent.calls import Call
from skyrl_train.contracts.agent.tool_prompt import tool_prompt
from skyrl_train.contracts.agent.tools import THINK, TOOLS


def test_lists_each_tool_and_shows_a_call_that_parses() -> None:
    assert tool_prompt([THINK]) == (
        "You can call these functions:\n\n"
        "---- BEGIN FUNCTION #1: think ----\n"
        "Description: Note a thought. Nothing else happens.\n"
        "Parameters:\n"
        "  (1) thought (string, required): the thought.\n"
        "---- END FUNCTION #1 ----\n"
        "\n"
        "To call a function, end your reply with one call in this form:\n\n"
        "<function=NAME>\n<parameter=PARAMETER>value</parameter>\n</function>\n\n"
        "<IMPORTANT>\n"
        "- A call begins with <function= and ends with </function>.\n"
        "- Give every required parameter. A value may have several lines.\n"
        "- Call one function in each reply. Reasoning may stand before the call, nothing after it.\n"
        "- Call finish when the task is done.\n"
        "</IMPORTANT>\n"
    )
    call = parse_call(tool_prompt())
    assert isinstance(call, Call)
    assert (call.name, call.arguments) == ("NAME", (("PARAMETER", "value"),))


def test_the_names_in_the_table_can_be_written_as_calls() -> None:
    for tool in TOOLS:
        assert isinstance(format_call(tool.name, [(p.name, "x") for p in tool.parameters]), str)
