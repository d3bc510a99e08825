"""Runs each command in a new shell, and carries directory, variables, functions and aliases to the next one.

`exit 1`, `set -e` or a kill would end a shared shell. Instead, a shell writes its state when it ends, and the next one
reads it.
"""

from __future__ import annotations

import contextlib
import os
import shlex
from typing import NamedTuple

COMPLETE = "# whole"
"""The last line of a complete state. If a shell was killed while writing, the state before it counts."""

# The state comes first, since it holds the functions of the last shell, including __skyrl_keep. `\\builtin` bypasses
# aliases and functions of the model. The second call is for commands that set their own trap.
_SCRIPT = """\
shopt -s expand_aliases
[[ ! -r {before} ]] || . {before} 2>/dev/null
function __skyrl_keep {{
  {{ \\builtin declare -p; \\builtin declare -f; \\builtin declare -Fx; \\builtin alias -p; \\builtin shopt -p
    [[ ! -o pipefail ]] || \\builtin echo 'set -o pipefail'
    \\builtin printf '\\\\builtin cd -- %q\\nOLDPWD=%q\\n{complete}\\n' "$PWD" "${{OLDPWD-}}"; }} >{state} 2>/dev/null
  \\builtin printf '%s\\0%s\\0' "$PWD" "$(\\builtin command -v python 2>/dev/null)" >{location}
  \\builtin return "$1"
}}
\\builtin trap '__skyrl_keep $?' EXIT
\\builtin eval "$(<{command})"
__skyrl_keep $?
__skyrl_status=$?
case "$(\\builtin trap -p EXIT)" in *__skyrl_keep*) \\builtin trap - EXIT;; esac
\\builtin exit $__skyrl_status
"""
_KINDS = ("command", "state", "location")


class ShellState(NamedTuple):
    """The working directory and the Python after a command."""

    directory: str
    python: str


class Shell:
    """The shell states, as files in a directory."""

    def __init__(self, home: str, directory: str, environ: dict[str, str]) -> None:
        self._home = home
        self._environ = environ
        self._number = self._complete = 0
        self.start = directory
        self.location = ShellState(directory, "")

    def argv(self, command: str) -> list[str]:
        """The command line that runs a command with the last complete state."""
        self._number += 1
        with open(self._file("command"), "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(command + "\n")
        files = {kind: shlex.quote(self._file(kind)) for kind in _KINDS}
        before = shlex.quote(self._file("state", self._complete))  # number 0 does not exist
        return [
            "bash",
            "--noprofile",
            "--norc",
            "-c",
            _SCRIPT.format(complete=COMPLETE, before=before, **files),
            "bash",
        ]

    @property
    def environ(self) -> dict[str, str]:
        """The environment of the first command. Later ones get their variables from the state, so that `unset` persists."""
        if not self._complete:
            return self._environ
        return {"PATH": self._environ.get("PATH", os.defpath)}

    def ended(self) -> None:
        """Takes over the state of the shell that has ended, if it is complete."""
        used = self._number
        if self._is_complete():
            used, self._complete = self._complete, self._number
            with open(self._file("location"), encoding="utf-8", errors="replace") as file:
                directory, python, _ = (*file.read().split("\0"), "", "", "")[:3]
            self.location = ShellState(directory or self.start, python)
        for kind in _KINDS:
            with contextlib.suppress(OSError):
                os.unlink(self._file(kind, used))

    def forget(self) -> None:
        """Forgets all states."""
        self._complete = 0
        self.location = ShellState(self.start, "")

    def _is_complete(self) -> bool:
        try:
            with open(self._file("state"), "rb") as file:
                file.seek(max(file.seek(0, os.SEEK_END) - len(COMPLETE) - 1, 0))
                return file.read() == COMPLETE.encode() + b"\n"
        except OSError:
            return False

    def _file(self, kind: str, number: int | None = None) -> str:
        return f"{self._home}/{kind}-{self._number if number is None else number}"


def shell_environ(inherited: dict[str, str]) -> dict[str, str]:
    """The environment without pager and colours, since a model presses no keys and reads plain text."""
    return {**inherited, "TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat", "MANPAGER": "cat"}
