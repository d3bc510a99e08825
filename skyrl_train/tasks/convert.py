"""Converts tasks to verl's columns, one row at a time."""

import json
from collections.abc import Sequence

from skyrl_train.contracts.agent.tool_prompt import tool_prompt
from skyrl_train.contracts.agent.tools import TOOLS, Tool
from skyrl_train.contracts.agent.transcript import Message
from skyrl_train.contracts.tasks.rows import BadRow, TaskRow, read_row

AGENT_NAME = "skyrl"
REPOSITORY = "/testbed"

_INSTRUCTIONS = """\
The repository in {directory} has this problem:

<problem>
{problem}
</problem>

Change the code in {directory} so that the problem is gone. Leave its tests as they are. Try your change with a small script
or with the tests before you call finish.
"""


def prompt_of(task: TaskRow, tools: Sequence[Tool] = TOOLS, *, directory: str = REPOSITORY) -> tuple[Message, ...]:
    """The prompt of a task: system message and problem."""
    system = f"You are a programmer who works on a repository with the functions below.\n\n{tool_prompt(tools)}"
    return (
        Message(role="system", content=system),
        Message(role="user", content=_INSTRUCTIONS.format(problem=task.problem, directory=directory)),
    )


def verl_row(task: TaskRow, index: int, tools: Sequence[Tool] = TOOLS) -> dict[str, object]:
    """A row with verl's columns. The prompt is a list of messages, since verl fails on a plain string."""
    return {
        "prompt": [{"role": message.role, "content": message.content} for message in prompt_of(task, tools)],
        "data_source": task.source,
        "ability": "coding",
        "reward_model": {"style": "rule", "ground_truth": task.expected},
        "extra_info": {
            "index": index,
            "task_id": task.id,
            "repo": task.repo,
            "base_commit": task.base_commit,
            "image": task.image,
            "edits": [*task.edits],
        },
        "agent_name": AGENT_NAME,
    }


def read_line(line: str, number: int) -> TaskRow | BadRow:
    """The task in a line of JSON, or the reason why it is invalid."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        return BadRow(number, f"not valid JSON: {error}")
    return read_row(row, number)
