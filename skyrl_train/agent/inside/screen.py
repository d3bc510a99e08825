"""The pseudo-terminal of the commands, and its foreground process group."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios

from skyrl_train.agent.inside.processes import start_in_terminal

ROWS, COLUMNS = 200, 256
_CHUNK = 65536
_OUTPUT, _LOCAL = 1, 3  # of the lists that termios gives: input, output, control and local modes

SPECIAL_KEYS = {
    "UP": "\x1b[A",
    "DOWN": "\x1b[B",
    "RIGHT": "\x1b[C",
    "LEFT": "\x1b[D",
    "HOME": "\x1b[H",
    "END": "\x1b[F",
    "PGUP": "\x1b[5~",
    "PGDN": "\x1b[6~",
    "TAB": "\t",
    "ESC": "\x1b",
    "BS": "\x7f",
    "ENTER": "\n",
}


def key_of(text: str) -> str | None:
    """The characters of a key: C-c is \\x03. None if the text does not name a key."""
    word = text.strip()
    if len(word) == 3 and word[:2] == "C-" and word[2].isalpha():
        return chr(ord(word[2].upper()) - ord("@"))
    return SPECIAL_KEYS.get(word)


class Screen:
    """The controlling terminal of this process's session, without echo and with unchanged newlines."""

    def __init__(self) -> None:
        with contextlib.suppress(PermissionError):  # is a session leader already
            os.setsid()
        self._main, self._side = pty.openpty()
        fcntl.ioctl(self._side, termios.TIOCSCTTY, 0)
        fcntl.ioctl(self._side, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.set_blocking(self._main, False)
        modes = termios.tcgetattr(self._side)
        modes[_OUTPUT] &= ~termios.OPOST
        modes[_LOCAL] &= ~termios.ECHO
        self._modes = modes
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # allows changing the foreground process group
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP):  # these signals are for the command
            signal.signal(number, lambda *_: None)
        self._wake, wake = os.pipe()
        for end in (self._wake, wake):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def start(self, argv: list[str], environ: dict[str, str], directory: str) -> subprocess.Popen[bytes]:
        """Runs a command in its own process group, which gets the terminal."""
        termios.tcsetattr(self._side, termios.TCSANOW, self._modes)  # undoes changes of the last command
        return start_in_terminal(argv, self._side, environ=environ, directory=directory)

    def take_back(self) -> None:
        """Makes this process the foreground again: leftovers of a command get no keys and cannot read."""
        os.tcsetpgrp(self._side, os.getpgrp())
        termios.tcflush(self._side, termios.TCIFLUSH)

    def send(self, text: str) -> None:
        data = text.encode("utf-8", "surrogateescape")
        with contextlib.suppress(BlockingIOError):  # if no process reads, a terminal keeps 4 kB and drops the rest
            while data:
                data = data[os.write(self._main, data) :]

    def read(self) -> bytes:
        """The output so far, without waiting."""
        try:
            return os.read(self._main, _CHUNK)
        except (BlockingIOError, OSError):
            return b""

    def wait(self, seconds: float, other: int) -> bool:
        """Waits for output, the end of a process or the time limit; True if `other` can be read."""
        ready, _, _ = select.select([self._main, self._wake, other], [], [], max(seconds, 0.0))
        if self._wake in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(self._wake, _CHUNK)
        return other in ready
