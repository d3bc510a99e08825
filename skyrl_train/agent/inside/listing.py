"""The output of `view`: numbered lines, or a directory two levels deep."""

from __future__ import annotations

import os


def split_lines(text: str) -> list[str]:
    """The lines as `cat -n` counts them: a newline at the end starts no new line."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def numbered(lines: list[str], what: str, first: int = 1) -> str:
    listed = "".join(f"{number:6}\t{line}\n" for number, line in enumerate(lines, start=first))
    return f"Here's the result of running `cat -n` on {what}:\n{listed}"


def directory(path: str) -> str:
    hidden = sum(name.startswith(".") for name in os.listdir(path))
    text = f"Here's the files and directories up to 2 levels deep in {path}, excluding hidden items:\n" + "\n".join(
        _entries(path)
    )
    if hidden:
        text += (
            f"\n\n{hidden} hidden files/directories in this directory are excluded."
            f" You can use 'ls -la {path}' to see them."
        )
    return text


def _entries(path: str) -> list[str]:
    found = [_with_slash(path)]
    for entry in _visible(path):
        found.append(_with_slash(entry))
        if os.path.isdir(entry):
            try:
                found.extend(map(_with_slash, _visible(entry)))
            except OSError:  # not readable; its name is listed
                continue
    return found


def _visible(path: str) -> list[str]:
    return sorted(f"{path.rstrip('/')}/{name}" for name in os.listdir(path) if not name.startswith("."))


def _with_slash(path: str) -> str:
    return f"{path}/" if os.path.isdir(path) else path
