"""The `terminal` tool: runs one command at a time until it ends, prints nothing for a while or reaches its limit.

After silence or the model's own timeout, a command keeps running, and the model may wait, send input or interrupt it. At
the limit it is stopped.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from typing import NamedTuple

from skyrl_train.agent.inside import processes
from skyrl_train.agent.inside.answer import Answer, refusal
from skyrl_train.agent.inside.output import Output
from skyrl_train.agent.inside.screen import Screen, key_of
from skyrl_train.agent.inside.shell import Shell

SILENCE_S = 30.0
STOP_S = 1.0
_LEFTOVER_READS = (
    64  # of 64 kB each: the terminal's buffer at the end of a command, without endless output of a background job
)

HOW_TO_GO_ON = (
    "You may wait longer to see additional output by sending empty command '', "
    "send other commands to interact with the current process, send keys "
    '("C-c", "C-z", "C-d") '
    "to interrupt/kill the previous command before sending your new command, "
    "or use the timeout parameter in terminal for future commands."
)
CONTINUED = "[Below is the output of the previous command.]\n"
RESET = "Terminal session has been reset. All previous environment variables and session state have been cleared."


class Gone(BaseException):
    """The client has closed its end."""


class Limits(NamedTuple):
    """Time limits of a command: the model's timeout, and the hard limit."""

    asked_s: float | None
    limit_s: float


class Terminal:
    """One terminal session. `requests` is the client's descriptor: if it becomes readable during a command, it was closed."""

    def __init__(self, shell: Shell, requests: int, silence_s: float = SILENCE_S) -> None:
        self._shell = shell
        self._screen = Screen()
        self._requests = requests
        self._silence_s = silence_s
        self._running: subprocess.Popen[bytes] | None = None
        self._output = Output()
        self._continued = False

    def run(self, command: str, limits: Limits, *, is_input: bool = False, reset: bool = False) -> Answer:
        if reset and is_input:
            return refusal("Cannot use reset=True with is_input=True")
        if reset:
            return self._reset(command, limits)
        command = command.strip()
        if self._running is None and (is_input or not command):
            what = "interact with" if command else "retrieve logs from"
            return refusal(f"No previous running command to {what}.")
        if self._running is not None and command and not is_input and self._exit_code() is None:
            return self._refused(command)
        key = key_of(command) if is_input else None
        if is_input and command:
            self._screen.send(key or command + "\n")
        elif command:
            self._start(command)
        return self._follow(
            limits, f" CTRL+{command[-1].upper()} was sent." if command.startswith("C-") and key else ""
        )

    def close(self) -> None:
        processes.end_session(os.getsid(0))
        if self._running is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._running.wait(STOP_S)
        self._running = None
        processes.reap()

    def _start(self, command: str) -> None:
        if self._running is not None:  # it ended since the last check; its output comes first, as in a terminal
            self._settle()
        self._continued = False
        directory = self._shell.start if os.path.isdir(self._shell.start) else "/"
        argv = self._shell.argv(command)
        self._running = self._screen.start(argv, self._shell.environ, directory)

    def _follow(self, limits: Limits, key: str) -> Answer:
        begin = heard = time.monotonic()
        while True:
            code = self._exit_code()
            if self._read():
                heard = time.monotonic()
            if code is not None:
                return self._ended(code, key)
            now = time.monotonic()
            if now - begin >= limits.limit_s and (limits.asked_s is None or limits.asked_s > limits.limit_s):
                return self._stopped(limits.limit_s)
            if limits.asked_s is not None and now - begin >= limits.asked_s:
                return self._left(f"[The command timed out after {limits.asked_s} seconds. {HOW_TO_GO_ON}]")
            if limits.asked_s is None and now - heard >= self._silence_s:
                why = f"[The command has no new output after {self._silence_s:g} seconds. {HOW_TO_GO_ON}]"
                return self._left(why)
            ends = [
                begin + limits.limit_s,
                heard + self._silence_s if limits.asked_s is None else begin + limits.asked_s,
            ]
            if self._screen.wait(min(ends) - now, self._requests):
                raise Gone

    def _read(self) -> bool:
        """Reads once; whether there was output. Reading once lets the caller check the limits even with endless output."""
        data = self._screen.read()
        self._output.add(data)
        return bool(data)

    def _exit_code(self) -> int | None:
        """The exit code of the running command, 128 + N if signal N ended or stopped it; None while it runs."""
        if self._running is None:
            return None
        code = self._running.poll()
        if code is not None:
            return 128 - code if code < 0 else code
        try:
            stop = os.waitid(os.P_PID, self._running.pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT)
        except (
            ChildProcessError
        ):  # it ended between the two checks, and a dead process cannot be asked whether it stopped
            return self._exit_code()
        return 128 + stop.si_status if stop is not None and stop.si_pid else None

    def _ended(self, code: int, key: str) -> Answer:
        self._settle()
        text = f"{self._output.take().rstrip()}\n[The command completed with exit code {code}.{key}]"
        return Answer(f"{text}{self._location()}\n[Command finished with exit code {code}]", code)

    def _settle(self) -> None:
        """Collects the last output and the state of a command that has ended."""
        for _ in range(_LEFTOVER_READS):
            if not self._read():
                break
        self._output.add(b"", last=True)
        self._running = None
        self._shell.ended()
        self._screen.take_back()
        processes.reap()

    def _location(self) -> str:
        directory, python = self._shell.location
        return f"\n[Current working directory: {directory}]" + (f"\n[Python interpreter: {python}]" if python else "")

    def _left(self, why: str) -> Answer:
        """The output so far of a command that keeps running."""
        before, self._continued = CONTINUED if self._continued else "", True
        return Answer(f"{before}{self._output.take().rstrip()}\n{why}")

    def _refused(self, command: str) -> Answer:
        self._read()
        why = (
            f'[Your command "{command}" is NOT executed. The previous command is still running - You CANNOT send new '
            "commands until the previous command is completed. By setting `is_input` to `true`, you can interact with "
            f"the current process: {HOW_TO_GO_ON}]"
        )
        return refusal(self._left(why).text)

    def _stopped(self, limit_s: float) -> Answer:
        assert self._running is not None
        for number in (signal.SIGTERM, signal.SIGKILL):
            processes.end_group(self._running.pid, number)
            until = time.monotonic() + STOP_S
            while self._exit_code() is None and time.monotonic() < until:
                self._read()
                self._screen.wait(until - time.monotonic(), self._requests)
        self._settle()
        why = f"[The command was stopped at its limit of {limit_s:g} seconds.]"
        return Answer(f"{self._output.take().rstrip()}\n{why}{self._location()}", timed_out=True)

    def _reset(self, command: str, limits: Limits) -> Answer:
        self.close()
        self._screen.take_back()
        while self._read():
            pass
        self._output.add(b"", last=True)
        self._output.take()
        self._shell.forget()
        if not command.strip():
            return Answer(RESET, 0)
        answer = self.run(command, limits)
        return answer._replace(text=f"{RESET}\n\n{answer.text}")
