"""From rows to verl's columns, one at a time, with the bad ones counted and named."""

import json
from collections.abc import Iterable, Iterator, Sequence

from skyrl_train.agent.prompt import tool_prompt
from skyrl_train.agent.tools import TOOLS, Tool
from skyrl_train.agent.transcript import Message
from skyrl_train.tasks.rows import BadRow, TaskRow, read_row

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
    """What the model reads first."""
    system = f"You are a programmer who works on a repository with the functions below.\n\n{tool_prompt(tools)}"
    return (
        Message(role="system", content=system),
        Message(role="user", content=_INSTRUCTIONS.format(problem=task.problem, directory=directory)),
    )


def verl_row(task: TaskRow, index: int, tools: Sequence[Tool] = TOOLS) -> dict[str, object]:
    """The columns that verl's data set reads. The prompt is a list of messages: a bare string fails there."""
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
        },
        "agent_name": AGENT_NAME,
    }


def read_jsonl(lines: Iterable[str]) -> Iterator[TaskRow | BadRow]:
    """Each line that is not blank, as a task or as what is wrong with it. Numbers count all lines.

    A task that comes twice would be trained on twice as often, and confuses what groups rollouts by task.
    """
    first: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        task = _read_line(line, number)
        if isinstance(task, TaskRow) and first.setdefault(task.id, number) != number:
            task = BadRow(number, f"task {task.id} is there already, in line {first[task.id]}")
        yield task


def _read_line(line: str, number: int) -> TaskRow | BadRow:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        return BadRow(number, f"no JSON: {error}")
    return read_row(row, number)


def images(tasks: Iterable[TaskRow]) -> list[str]:
    """The images that these tasks need, each once, in order of first use: what to pull before the first step."""
    return list(dict.fromkeys(task.image for task in tasks))
