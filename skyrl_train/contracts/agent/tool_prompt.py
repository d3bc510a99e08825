"""The system message for a model without built-in function calls: see AGT001."""

from collections.abc import Sequence

from skyrl_train.contracts.agent.call_errors import FORM
from skyrl_train.contracts.agent.tools import TOOLS, Parameter, Tool

TEMPLATE = "system_prompt.j2"
"""The template that an SDK agent loads from the directory of its class. FIX(AGT013): here the prompt is code, always installed."""

_RULES = f"""
To call a function, end your reply with one call in this form:

{FORM}

<IMPORTANT>
- A call begins with <function= and ends with </function>.
- Give every required parameter. A value may have several lines.
- Call one function in each reply. Reasoning may stand before the call, nothing after it.
- Call finish when the task is done.
</IMPORTANT>
"""


def tool_prompt(tools: Sequence[Tool] = TOOLS) -> str:
    """The part of the system message with the tools and the format of a call."""
    listed = "\n\n".join(_described(number, tool) for number, tool in enumerate(tools, start=1))
    return f"You can call these functions:\n\n{listed}\n{_RULES}"


def _described(number: int, tool: Tool) -> str:
    parameters = "\n".join(f"  ({i}) {_parameter(p)}" for i, p in enumerate(tool.parameters, start=1))
    return (
        f"---- BEGIN FUNCTION #{number}: {tool.name} ----\nDescription: {tool.about}\n"
        f"Parameters:\n{parameters}\n---- END FUNCTION #{number} ----"
    )


def _parameter(parameter: Parameter) -> str:
    need = "required" if parameter.required else "optional"
    choices = f" One of: {', '.join(parameter.choices)}." if parameter.choices else ""
    kind = "string" if parameter.kind == "word" else parameter.kind.value
    return f"{parameter.name} ({kind}, {need}): {parameter.about}.{choices}"
