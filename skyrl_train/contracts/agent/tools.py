"""The tools that the model may call, as data. Names and parameters are those of the OpenHands SDK."""

from collections.abc import Iterable
from enum import StrEnum

from skyrl_train.contracts.record import record


class ValueKind(StrEnum):
    """The kind of a parameter's value. TEXT is kept unchanged; the others ignore white space around them."""

    TEXT = "string"
    WORD = "word"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    INTEGERS = "array"


@record(kw_only=True)
class Parameter:
    """One parameter. `choices` limits a WORD; `needed_for` names the commands that require it."""

    name: str
    kind: ValueKind
    about: str
    required: bool = False
    choices: tuple[str, ...] = ()
    needed_for: tuple[str, ...] = ()


@record(kw_only=True)
class Tool:
    """One function. `aliases` are names from older prompts that models still use (AGT002)."""

    name: str
    about: str
    parameters: tuple[Parameter, ...]
    aliases: tuple[str, ...] = ()


def _text(name: str, about: str, *, required: bool = False, needed_for: tuple[str, ...] = ()) -> Parameter:
    return Parameter(name=name, kind=ValueKind.TEXT, about=about, required=required, needed_for=needed_for)


TERMINAL = Tool(
    name="terminal",
    about="Run a bash command. The working directory and exported variables stay from one command to the next.",
    aliases=("execute_bash", "bash", "cmd_run"),
    parameters=(
        _text("command", "the command; empty to read more output of one that still runs", required=True),
        Parameter(name="is_input", kind=ValueKind.BOOLEAN, about="the command is input for one that still runs"),
        Parameter(name="timeout", kind=ValueKind.NUMBER, about="seconds after which the command is stopped"),
        Parameter(name="reset", kind=ValueKind.BOOLEAN, about="start a new shell; what was exported is lost"),
    ),
)

FILE_EDITOR = Tool(
    name="file_editor",
    about="View, create and edit files.",
    aliases=("str_replace_editor", "str_replace"),
    parameters=(
        Parameter(
            name="command",
            kind=ValueKind.WORD,
            about="what to do",
            required=True,
            choices=("view", "create", "str_replace", "insert", "undo_edit"),
        ),
        Parameter(name="path", kind=ValueKind.WORD, about="absolute path of a file or directory", required=True),
        _text("file_text", "create: the content of the file", needed_for=("create",)),
        _text("old_str", "str_replace: the text to replace, which the file holds once", needed_for=("str_replace",)),
        _text("new_str", "str_replace: the text to put there; insert: the text to insert", needed_for=("insert",)),
        Parameter(
            name="insert_line",
            kind=ValueKind.INTEGER,
            about="insert: the line after which to insert, 0 for the beginning",
            needed_for=("insert",),
        ),
        Parameter(
            name="view_range",
            kind=ValueKind.INTEGERS,
            about="view: first and last line, such as [11, 12]; -1 is the end of the file",
        ),
    ),
)

FINISH = Tool(
    name="finish",
    about="Say that the task is done, or that it cannot be done.",
    parameters=(_text("message", "what was done", required=True),),
)

THINK = Tool(
    name="think",
    about="Note a thought. Nothing else happens.",
    parameters=(_text("thought", "the thought", required=True),),
)

TOOLS = (TERMINAL, FILE_EDITOR, FINISH, THINK)


def unknown_names(names: Iterable[str]) -> tuple[str, ...]:  # FIX(AGT002)
    """The names that are neither a tool nor an alias. Calls of them are refused."""
    known = {name for tool in TOOLS for name in (tool.name, *tool.aliases)}
    return tuple(name for name in names if name not in known)


def offers(names: Iterable[str], tool: Tool) -> bool:
    """Whether the names include a tool, under any of its names."""
    return not {tool.name, *tool.aliases}.isdisjoint(names)
