"""One shell for each command, and what passes from one to the next: directory, variables, functions, aliases.

A shell that lived from command to command would be ended by `exit 1`, `set -e` or a kill. What a command changed is
written down when its shell ends, however it ends, and read by the next one.
"""

from __future__ import annotations

import contextlib
import os
import shlex
from typing import NamedTuple

WHOLE = "# whole"
"""The last line of a state. A shell that was killed while it wrote leaves one without it, and the state before counts."""

# The state comes first: it holds the functions of the shell before, this one's __skyrl_keep among them. `\\builtin`
# reaches past aliases and functions of the model's. The second call is for a command that set a trap of its own.
_SCRIPT = """\
shopt -s expand_aliases
[[ ! -r {before} ]] || . {before} 2>/dev/null
function __skyrl_keep {{
  {{ \\builtin declare -p; \\builtin declare -f; \\builtin declare -Fx; \\builtin alias -p; \\builtin shopt -p
    [[ ! -o pipefail ]] || \\builtin echo 'set -o pipefail'
    \\builtin printf '\\\\builtin cd -- %q\\nOLDPWD=%q\\n{whole}\\n' "$PWD" "${{OLDPWD-}}"; }} >{state} 2>/dev/null
  \\builtin printf '%s\\0%s\\0' "$PWD" "$(\\builtin command -v python 2>/dev/null)" >{place}
  \\builtin return "$1"
}}
\\builtin trap '__skyrl_keep $?' EXIT
\\builtin eval "$(<{command})"
__skyrl_keep $?
__skyrl_status=$?
case "$(\\builtin trap -p EXIT)" in *__skyrl_keep*) \\builtin trap - EXIT;; esac
\\builtin exit $__skyrl_status
"""
_KINDS = ("command", "state", "place")


class Place(NamedTuple):
    """Where a command left the shell."""

    directory: str
    python: str


class Shell:
    """The states, as files in a directory of their own."""

    def __init__(self, home: str, directory: str, environ: dict[str, str]) -> None:
        self._home = home
        self._environ = environ
        self._number = self._whole = 0
        self.start = directory
        self.place = Place(directory, "")

    def argv(self, command: str) -> list[str]:
        """Runs a command after what the last whole state says."""
        self._number += 1
        with open(self._file("command"), "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(command + "\n")
        files = {kind: shlex.quote(self._file(kind)) for kind in _KINDS}
        before = shlex.quote(self._file("state", self._whole))  # there is none of number 0
        return ["bash", "--noprofile", "--norc", "-c", _SCRIPT.format(whole=WHOLE, before=before, **files), "bash"]

    @property
    def environ(self) -> dict[str, str]:
        """For the first command; later ones find their variables in the state, so that `unset` lasts."""
        if not self._whole:
            return self._environ
        return {"PATH": self._environ.get("PATH", os.defpath)}

    def ended(self) -> None:
        """After the shell of a command: what it left becomes what the next one begins with."""
        used = self._number
        if self._is_whole():
            used, self._whole = self._whole, self._number
            with open(self._file("place"), encoding="utf-8", errors="replace") as file:
                directory, python, _ = (*file.read().split("\0"), "", "", "")[:3]
            self.place = Place(directory or self.start, python)
        for kind in _KINDS:
            with contextlib.suppress(OSError):
                os.unlink(self._file(kind, used))

    def forget(self) -> None:
        """As if no command had run."""
        self._whole = 0
        self.place = Place(self.start, "")

    def _is_whole(self) -> bool:
        try:
            with open(self._file("state"), "rb") as file:
                file.seek(max(file.seek(0, os.SEEK_END) - len(WHOLE) - 1, 0))
                return file.read() == WHOLE.encode() + b"\n"
        except OSError:
            return False

    def _file(self, kind: str, number: int | None = None) -> str:
        return f"{self._home}/{kind}-{self._number if number is None else number}"


def shell_environ(inherited: dict[str, str]) -> dict[str, str]:
    """No pager and no colours: nobody is there to press a key, and a model reads plain text."""
    return {**inherited, "TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat", "MANPAGER": "cat"}
