"""The `file_editor` tool: view, create, str_replace, insert and undo_edit, with the texts of the SDK's editor."""

from __future__ import annotations

import os
from typing import Any

from skyrl_train.agent.inside import listing
from skyrl_train.agent.inside.answer import Answer, ToolError, refusal
from skyrl_train.agent.inside.files import read_text, write_text

CONTEXT_LINES = 4
MAX_UNDO = 10
"""The most edits of a file that can be undone."""

_REVIEW = "Review the changes and make sure they are as expected"


class Editor:
    """Edits files, and remembers their earlier content."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._before: dict[str, list[str]] = {}

    def run(self, command: str, path: str, **more: Any) -> Answer:
        """Runs a command. `more` holds its parameters by the SDK's names; those of other commands are ignored."""
        try:
            self._check_path(command, path)
            if command == "view":
                return Answer(_valid(self._view(path, more.get("view_range"))))
            if command == "create":
                return Answer(self._create(path, more["file_text"]))
            if command == "str_replace":
                return Answer(_valid(self._replace(path, more["old_str"], more.get("new_str"))))
            if command == "insert":
                return Answer(_valid(self._insert(path, more["insert_line"], more["new_str"])))
            return Answer(_valid(self._undo(path)))
        except ToolError as error:
            return refusal(_valid(str(error)))
        except OSError as error:
            return refusal(str(error))

    def _check_path(self, command: str, path: str) -> None:
        if not path.startswith("/"):
            hint = "The path should be an absolute path."
            guess = os.path.join(self._directory, path)
            raise ToolError(
                _invalid("path", path, f"{hint} Maybe you meant {guess}?" if os.path.exists(guess) else hint)
            )
        if command == "create" and os.path.lexists(path):
            why = f"File already exists at: {path}. Cannot overwrite files using command `create`."
            raise ToolError(_invalid("path", path, why))
        if command != "create" and not os.path.exists(path):
            raise ToolError(_invalid("path", path, f"The path {path} does not exist. Please provide a valid path."))
        if command != "view" and os.path.isdir(path):
            why = f"The path {path} is a directory and only the `view` command can be used on directories."
            raise ToolError(_invalid("path", path, why))

    def _view(self, path: str, view_range: list[int] | None) -> str:
        if os.path.isdir(path):
            if view_range:
                why = "The `view_range` parameter is not allowed when `path` points to a directory."
                raise ToolError(_invalid("view_range", view_range, why))
            return listing.directory(path)
        lines = listing.split_lines(read_text(path))
        if not view_range:
            return listing.numbered(lines, path)
        first, last, note = _range(view_range, len(lines))
        return note + listing.numbered(lines[first - 1 : last], path, first)

    def _create(self, path: str, text: str) -> str:
        write_text(path, text)
        self._remember(path, text)  # like the SDK: undoing a creation restores the created text
        return f"File created successfully at: {path}"

    def _replace(self, path: str, old: str, new: str | None) -> str:
        if new is None:
            raise ToolError("Parameter `new_str` is required for command: str_replace.")
        if old == new:
            why = "No replacement was performed. `new_str` and `old_str` must be different."
            raise ToolError(_invalid("new_str", new, why))
        text = read_text(path)
        newline = _newline(text)
        start, old = _only_place(text, old.replace("\n", newline) if "\r" not in old else old, path)
        new = new.replace("\n", newline) if "\r" not in new else new
        edited = text[:start] + new + text[start + len(old) :]
        write_text(path, edited)
        self._remember(path, text)
        line = text.count("\n", 0, start) + 1
        begin = max(0, line - CONTEXT_LINES)
        shown = listing.split_lines(edited)[begin : line + CONTEXT_LINES + new.count("\n")]
        snippet = listing.numbered(shown, f"a snippet of {path}", begin + 1)
        return f"The file {path} has been edited. {snippet}{_REVIEW}. Edit the file again if necessary."

    def _insert(self, path: str, after: int, new: str) -> str:
        text = read_text(path)
        lines = _kept(text)
        count = len(lines)
        if not 0 <= after <= count:
            why = f"It should be within the range of allowed values: {[0, count]}"
            raise ToolError(_invalid("insert_line", after, why))
        newline = _newline(text)
        if after and not lines[after - 1].endswith("\n"):  # the last line has no newline: add one first
            lines[after - 1] += newline
        added = [line + newline for line in new.split("\n")]
        edited = "".join([*lines[:after], *added, *lines[after:]])
        write_text(path, edited)
        self._remember(path, text)
        begin = max(0, after - CONTEXT_LINES)
        shown = listing.split_lines(edited)[begin : min(count + len(added), after + CONTEXT_LINES + len(added))]
        snippet = listing.numbered(shown, "a snippet of the edited file", max(1, after - CONTEXT_LINES + 1))
        detail = "(correct indentation, no duplicate lines, etc). Edit the file again if necessary."
        return f"The file {path} has been edited. {snippet}{_REVIEW} {detail}"

    def _undo(self, path: str) -> str:
        before = self._before.get(os.path.realpath(path))
        if not before:
            raise ToolError(f"No edit history found for {path}.")
        text = before.pop()
        write_text(path, text)
        return f"Last edit to {path} undone successfully. {listing.numbered(listing.split_lines(text), path)}"

    def _remember(self, path: str, text: str) -> None:
        before = self._before.setdefault(os.path.realpath(path), [])
        before.append(text)
        del before[:-MAX_UNDO]


def _range(view_range: list[int], count: int) -> tuple[int, int, str]:
    """First and last line, and a note if the file has fewer lines than requested."""
    if len(view_range) != 2:
        raise ToolError(_invalid("view_range", view_range, "It should be a list of two integers."))
    first, last = view_range
    if not 1 <= first <= count:
        why = f"Its first element `{first}` should be within the range of lines of the file: {[1, count]}."
        raise ToolError(_invalid("view_range", view_range, why))
    note = ""
    if last > count:
        note = f"NOTE: We only show up to {count} since there're only {count} lines in this file.\n"
    last = count if last == -1 else min(last, count)
    if last < first:
        why = f"Its second element `{last}` should be greater than or equal to the first element `{first}`."
        raise ToolError(_invalid("view_range", view_range, why))
    return first, last, note


def _only_place(text: str, old: str, path: str) -> tuple[int, str]:
    """The position of the only occurrence, and the text found. If it does not occur, white space at its ends is ignored."""
    if old not in text:
        old = old.strip()
    if old not in text:
        raise ToolError(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
    start = text.find(old)
    if text and text.find(old, start + len(old)) >= 0:  # in an empty file, an empty text is there once
        raise ToolError(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines {_lines_of(text, old)}."
            " Please ensure it is unique."
        )
    return start, old


def _lines_of(text: str, old: str) -> list[int]:
    if not old:
        return [*range(1, text.count("\n") + 2)]
    found: list[int] = []
    line, counted, start = 1, 0, text.find(old)
    while start >= 0:
        line, counted = line + text.count("\n", counted, start), start
        if found[-1:] != [line]:
            found.append(line)
        start = text.find(old, start + len(old))
    return found


def _kept(text: str) -> list[str]:
    """The lines with their newlines. Only a newline ends a line."""
    return [line + "\n" for line in text.split("\n")[:-1]] + ([last] if (last := text.rpartition("\n")[2]) else [])


def _newline(text: str) -> str:
    """The line ending of a file, which edits keep, since models write plain newlines."""
    return "\r\n" if "\r\n" in text and text.count("\n") == text.count("\r\n") else "\n"


def _invalid(parameter: str, value: object, hint: str) -> str:
    return f"Invalid `{parameter}` parameter: {value}. {hint}"


def _valid(text: str) -> str:
    """The text with bytes that are not UTF-8 replaced."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
