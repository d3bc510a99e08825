"""The pseudo-terminal that commands run on, and which process group it listens to."""

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
    """What a key's name sends: C-c is \\x03; None where the text is no key's name."""
    word = text.strip()
    if len(word) == 3 and word[:2] == "C-" and word[2].isalpha():
        return chr(ord(word[2].upper()) - ord("@"))
    return SPECIAL_KEYS.get(word)


class Screen:
    """The controlling terminal of this process's session. No echo, and newlines as they are written."""

    def __init__(self) -> None:
        with contextlib.suppress(PermissionError):  # a session leader already
            os.setsid()
        self._main, self._side = pty.openpty()
        fcntl.ioctl(self._side, termios.TIOCSCTTY, 0)
        fcntl.ioctl(self._side, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.set_blocking(self._main, False)
        modes = termios.tcgetattr(self._side)
        modes[_OUTPUT] &= ~termios.OPOST
        modes[_LOCAL] &= ~termios.ECHO
        self._modes = modes
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # to give the terminal away is allowed
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP):  # these are the command's
            signal.signal(number, lambda *_: None)
        self._wake, wake = os.pipe()
        for end in (self._wake, wake):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def start(self, argv: list[str], environ: dict[str, str], directory: str) -> subprocess.Popen[bytes]:
        """Runs a command on this terminal."""
        termios.tcsetattr(self._side, termios.TCSANOW, self._modes)  # whatever the last one did to it
        return start_in_terminal(argv, self._side, environ=environ, directory=directory)

    def take_back(self) -> None:
        """The terminal is this process's again: keys reach no command, and its leftovers cannot read."""
        os.tcsetpgrp(self._side, os.getpgrp())
        termios.tcflush(self._side, termios.TCIFLUSH)

    def send(self, text: str) -> None:
        data = text.encode("utf-8", "surrogateescape")
        with contextlib.suppress(BlockingIOError):  # nobody reads: a terminal takes 4 kB, and drops what is more
            while data:
                data = data[os.write(self._main, data) :]

    def read(self) -> bytes:
        """What has been written by now, without waiting."""
        try:
            return os.read(self._main, _CHUNK)
        except (BlockingIOError, OSError):
            return b""

    def wait(self, seconds: float, other: int) -> bool:
        """Until something is written, a process ends or the time is over; True where `other` can be read."""
        ready, _, _ = select.select([self._main, self._wake, other], [], [], max(seconds, 0.0))
        if self._wake in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(self._wake, _CHUNK)
        return other in ready
