"""Our terminal, in a process of its own as in a sandbox, in the place of OpenHands' terminal session."""

import json
import os
import re
import subprocess
import sys
from typing import Any

from openhands.tools.terminal import impl, terminal  # type: ignore[import-not-found]
from openhands.tools.terminal.constants import NO_CHANGE_TIMEOUT_SECONDS  # type: ignore[import-not-found]
from openhands.tools.terminal.definition import TerminalObservation  # type: ignore[import-not-found]
from openhands.tools.terminal.metadata import CmdOutputMetadata  # type: ignore[import-not-found]
from openhands.tools.terminal.terminal import factory
from openhands.tools.terminal.terminal.terminal_session import TerminalCommandStatus  # type: ignore[import-not-found]

from skyrl_train.agent.inside.answer import ERROR_HEADER
from skyrl_train.agent.inside.terminal import CONTINUED, RESET

LIMIT_S = 600.0
# The server of the tools, with the session's own patience instead of 30 s.
_SERVER = """
import functools, sys
from skyrl_train.agent.inside import serve
serve.Terminal = functools.partial(serve.Terminal, silence_s=float(sys.argv[2]))
sys.exit(serve.main([sys.argv[1]]))
"""
# what follows the output: a note in brackets, the directory, the Python, the exit code
_END = re.compile(
    r"(?P<note>\n\[(?:The command |Your command )(?:.|\n)*?\])"
    r"(?:\n\[Current working directory: (?P<directory>[^\n]*)\])?"
    r"(?:\n\[Python interpreter: (?P<python>[^\n]*)\])?"
    r"(?:\n\[Command finished with exit code (?P<code>-?\d+)\])?\Z"
)
_RUNNING = {
    "no new output": "NO_CHANGE_TIMEOUT",
    "timed out after": "HARD_TIMEOUT",
    "NOT executed": "NO_CHANGE_TIMEOUT",
}


class Session:
    """What the tests ask of a TerminalSession, answered by our server of the tools."""

    def __init__(self, work_dir: Any, silence_s: float, env: Any) -> None:
        self.work_dir = self.cwd = os.path.abspath(work_dir)
        self.username = None
        self.no_change_timeout_seconds = silence_s
        self.prev_status: Any = None
        self._env = env or {}
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False

    def initialize(self) -> None:
        words = [sys.executable, "-c", _SERVER, self.work_dir, str(self.no_change_timeout_seconds)]
        env = {**os.environ, **self._env}
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
        self._line()

    def execute(self, action: Any) -> Any:
        if action.reset and action.is_input:
            raise ValueError("Cannot use reset=True with is_input=True")
        arguments = {"command": action.command, "is_input": action.is_input, "timeout": action.timeout}
        answer = self._ask({"tool": "terminal", "arguments": arguments, "limit_s": LIMIT_S})
        return self._observed(action.command, answer["text"])

    def close(self) -> None:
        self._closed = True
        process, self._process = self._process, None
        if process is not None:
            with process:
                process.stdin.close()  # type: ignore[union-attr] -- it is a pipe

    def _ask(self, request: dict[str, object]) -> Any:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        return self._line()

    def _line(self) -> Any:
        assert self._process is not None
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def _observed(self, command: str, text: str) -> Any:
        """Our text as the fields that the SDK puts together again for the model."""
        wrong = text.startswith(ERROR_HEADER)
        text = text.removeprefix(ERROR_HEADER)
        metadata = CmdOutputMetadata()
        if text.startswith(CONTINUED):
            metadata.prefix, text = CONTINUED, text.removeprefix(CONTINUED)
        if end := _END.search(text):
            metadata.suffix, text = end["note"], text[: end.start()]
            metadata.working_dir, metadata.py_interpreter_path = end["directory"], end["python"] or None
            metadata.exit_code = int(end["code"] or -1)
            self.cwd = end["directory"] or self.cwd
            running = next((status for words, status in _RUNNING.items() if words in end["note"]), "COMPLETED")
            self.prev_status = TerminalCommandStatus[running]
        return TerminalObservation.from_text(
            command=command, text=text, metadata=metadata, exit_code=metadata.exit_code, is_error=wrong
        )


def create(work_dir: str, username: Any = None, no_change_timeout_seconds: Any = None, **more: Any) -> Session:  # noqa: ARG001 -- as theirs
    """Our session for each kind of terminal."""
    return Session(work_dir, no_change_timeout_seconds or NO_CHANGE_TIMEOUT_SECONDS, more.get("env"))


assert RESET == impl.TerminalExecutor._RESET_TEXT  # noqa: SLF001 -- theirs
for place in (factory, terminal, impl):
    place.create_terminal_session = create  # type: ignore[attr-defined]
impl._is_tmux_available = bool  # noqa: SLF001 -- its pool of panes goes round a session
