"""Our file editor in the place of OpenHands'."""

import re
from pathlib import Path
from typing import Any

from openhands.tools.file_editor import editor as theirs  # type: ignore[import-not-found]
from openhands.tools.file_editor.definition import FileEditorObservation  # type: ignore[import-not-found]
from openhands.tools.file_editor.exceptions import (  # type: ignore[import-not-found]
    EditorToolParameterInvalidError,
    EditorToolParameterMissingError,
    FileValidationError,
    ToolError,
)

from skyrl_train.agent.inside.answer import ERROR_HEADER
from skyrl_train.agent.inside.editor import Editor

REQUIRED = {"create": ("file_text",), "str_replace": ("old_str", "new_str"), "insert": ("insert_line", "new_str")}
_INVALID = re.compile(r"Invalid `(\w+)` parameter: (.*)", re.DOTALL)
_FILE = re.compile(r"File validation failed for (.*?): (.*)", re.DOTALL)


def run(self: Any, *, command: str, path: Any, **more: Any) -> Any:
    """One command of our editor, as an observation or an error of the SDK."""
    path = str(path)
    given = {name: value for name, value in more.items() if value is not None}
    for name in REQUIRED.get(command, ()):
        if name not in given:  # a call without it is refused by the reader of calls
            raise EditorToolParameterMissingError(command, name)
    ours = self.__dict__.setdefault("ours", Editor(self._cwd))
    before = _text(path)
    answer = ours.run(command, path, **given)
    if answer.text.startswith(ERROR_HEADER):
        raise _error(answer.text.removeprefix(ERROR_HEADER))
    return FileEditorObservation.from_text(
        text=answer.text,
        command=command,
        path=path,
        prev_exist=before is not None,
        old_content=before,
        new_content=_text(path),
    )


def _text(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return None


def _error(text: str) -> Exception:
    if found := _INVALID.fullmatch(text):
        error = EditorToolParameterInvalidError(found[1], found[2])
        error.message = text
        return error
    if found := _FILE.fullmatch(text):
        return FileValidationError(found[1], found[2])
    return ToolError(text)


theirs.FileEditor.__call__ = run
