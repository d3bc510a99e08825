"""Answers requests, one JSON object per line: {"tool", "arguments", "limit_s"} -> {"text", "exit_code", "timed_out"}."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
from typing import Any

from skyrl_train.agent.inside.answer import Answer, refusal
from skyrl_train.agent.inside.editor import Editor
from skyrl_train.agent.inside.processes import run_program, seal
from skyrl_train.agent.inside.shell import Shell, shell_environ
from skyrl_train.agent.inside.terminal import Gone, Limits, Terminal

READY = {"ready": 1}
"""The first line of output: the tools are ready."""


def main(arguments: list[str]) -> int:
    """Serves until the requests end. The only argument is the working directory of commands."""
    (directory,) = arguments or [os.getcwd()]
    seal()
    requests, answers = os.dup(0), os.dup(1)
    with open(os.devnull, "r+b", buffering=0) as nothing:  # commands must not read requests or write answers
        for stream in (0, 1):
            os.dup2(nothing.fileno(), stream)
    signal.signal(signal.SIGTERM, _leave)
    home = tempfile.mkdtemp(prefix="skyrl-terminal-", dir=os.environ.get("TMPDIR"))
    terminal = Terminal(Shell(home, directory, shell_environ(dict(os.environ))), requests)
    editor = Editor(directory)
    try:
        with open(requests, "rb") as lines, open(answers, "wb", buffering=0) as out, contextlib.suppress(Gone, OSError):
            _write(out, READY)
            for line in lines:
                _write(out, _answered(json.loads(line), terminal, editor)._asdict())
    finally:
        terminal.close()
        shutil.rmtree(home, ignore_errors=True)
    return 0


def _leave(_number: int, _frame: object) -> None:
    raise Gone


def _write(out: Any, answer: dict[str, Any]) -> None:
    data = json.dumps(answer).encode() + b"\n"
    while data:
        data = data[out.write(data) :]


def _answered(request: dict[str, Any], terminal: Terminal, editor: Editor) -> Answer:
    try:
        return _answer(request, terminal, editor)
    except ValueError as error:  # a NUL or incomplete character, which no system call accepts
        return refusal(f"{request['tool']} cannot take this: {error}")


def _answer(request: dict[str, Any], terminal: Terminal, editor: Editor) -> Answer:
    given = dict(request["arguments"])
    if request["tool"] == "program":  # never of the model: its calls are checked against its tools
        return _program(base64.b64decode(given["bundle"]), base64.b64decode(given["request"]), request["limit_s"])
    if request["tool"] == "file_editor":
        return editor.run(given.pop("command"), given.pop("path"), **given)
    limits = Limits(given.get("timeout") or None, request["limit_s"])
    return terminal.run(
        given["command"], limits, is_input=given.get("is_input", False), reset=given.get("reset", False)
    )


def _program(bundle: bytes, request: bytes, limit_s: float) -> Answer:
    """Runs a zip of Python with this interpreter; its output."""
    with tempfile.TemporaryDirectory(prefix="skyrl-program-") as place:
        paths = [os.path.join(place, name) for name in ("program.zip", "request")]
        for path, data in zip(paths, (bundle, request)):  # noqa: B905 -- Python 3.8 has no strict
            with open(path, "wb") as file:
                file.write(data)
        done = run_program([sys.executable, "-IS", *paths], limit_s)
    if done is None:
        return Answer("", timed_out=True)
    return Answer(done.stdout.decode("utf-8", "replace") or done.stderr.decode("utf-8", "replace"), done.returncode)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
