"""Runs a launch script with bash and records each program that it would start, with the arguments that bash built.

The script runs as another user, without network, in a copy of its checkout, with a short time limit. PATH has a few
harmless text tools and otherwise only stubs, which write their arguments to a file and succeed.
"""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.field.files import Checkout

REAL = ("basename", "cat", "cut", "date", "dirname", "expr", "grep", "head", "readlink", "realpath", "sed", "seq")
REAL_TOO = ("sort", "tail", "tr", "uname", "uniq", "wc", "bash")
STUBBED = ("python", "python3", "uv", "torchrun", "accelerate", "deepspeed", "ray", "srun", "sbatch", "env", "nohup")
STUBBED_TOO = ("timeout", "nvidia-smi", "docker", "rl", "sft", "inference", "orchestrator", "trainer", "evals", "nproc")
TIME_LIMIT_S = 30.0  # a script that computes ends earlier, at its limit of processor seconds
MOST_CALLS = 400
MOST_BYTES = 1 << 20
HOME = "/home/user"

_STUB = r"""#!/bin/bash -p
printf '%s\0' "$PWD" "${0##*/}" "$@" > "$FIELD_CALLS/$EPOCHREALTIME.$$"
case "$1 $2" in "-c "*npu*) exit 1 ;; esac  # this machine has no Ascend NPU
"""
_MISSING = r"""() { printf '%s\0' "$PWD" "$@" > "$FIELD_CALLS/$EPOCHREALTIME.$BASHPID"; }"""


@dataclass(frozen=True)
class Started:
    """A program that the script would start: its directory and its arguments, the first of which is its name."""

    directory: str
    argv: tuple[str, ...]


@dataclass(frozen=True)
class Ran:
    """The record of one run of a script."""

    status: int
    started: tuple[Started, ...]
    timed_out: bool = False
    errors: str = ""


class Sandbox:
    """A copy of a checkout in which scripts can run."""

    def __init__(self, top: Path, checkout: Checkout) -> None:
        self.top, self.checkout = top, checkout
        self.tree = top / "tree"
        self._bin, self._calls = top / "bin", top / "calls"
        ignore = shutil.ignore_patterns(".git")
        shutil.copytree(checkout.outer or checkout.root, self.tree, symlinks=True, ignore=ignore)
        self.root = self.tree / checkout.mount
        if checkout.outer is not None:
            shutil.rmtree(self.root, ignore_errors=True)
            shutil.copytree(checkout.root, self.root, symlinks=True, ignore=ignore)
        self._fill_bin()
        self._calls.mkdir()
        self._calls.chmod(0o777)
        top.chmod(0o755)
        for folder, _, _ in os.walk(self.tree):
            os.chmod(folder, 0o1777)  # a script may write beside our files but not change them

    def run(self, path: str, arguments: Sequence[str] = ()) -> Ran:
        """Runs a script of the checkout from its top, or from the script's own folder if nothing is launched there."""
        first = self._run(path, self.tree, arguments)
        if any(started.argv[0] not in ("mkdir", "ls", "rm", "pip") for started in first.started) and not first.status:
            return first
        second = self._run(path, (self.root / path).parent, arguments)
        return second if len(second.started) > len(first.started) else first

    def _run(self, path: str, directory: Path, arguments: Sequence[str]) -> Ran:
        for old in self._calls.iterdir():
            old.unlink()
        script = str(self.root / path)
        words = [_real("setpriv"), "--reuid", "65534", "--regid", "65534", "--clear-groups", "--no-new-privs"]
        words += [_real("prlimit"), "--cpu=5", "--fsize=1048576", "--as=1073741824", "--nofile=256", "--core=0"]
        words = [_real("unshare"), "-n", *words, "/bin/bash", script, *arguments]
        errors, status, timed_out = "", -1, False
        with tempfile.TemporaryFile() as output:
            program = subprocess.Popen(
                words,
                cwd=directory,
                env=self.environ(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=output,
                start_new_session=True,
            )
            try:
                status = program.wait(TIME_LIMIT_S)
                timed_out = status in (-signal.SIGXCPU, -signal.SIGKILL)  # its limit of processor seconds
            except subprocess.TimeoutExpired:
                timed_out = True
            finally:
                _end(program)
            output.seek(0)
            errors = output.read(MOST_BYTES).decode("utf-8", "replace")
        return Ran(status, tuple(self._started()), timed_out, errors)

    def environ(self) -> dict[str, str]:
        """The environment of a script. The doctor gets the same, without our own additions."""
        own = {
            "FIELD_CALLS": str(self._calls),
            "PATH": str(self._bin),
            "BASH_FUNC_command_not_found_handle%%": _MISSING,
        }
        return {**ENVIRON, **own}

    def _started(self) -> Iterator[Started]:
        names = sorted(self._calls.iterdir(), key=lambda path: path.name)
        for path in names[:MOST_CALLS]:
            words = path.read_bytes()[:MOST_BYTES].decode("utf-8", "replace").split("\0")[:-1]
            if len(words) > 1:
                yield Started(words[0], tuple(words[1:]))

    def _fill_bin(self) -> None:
        self._bin.mkdir()
        for name in (*REAL, *REAL_TOO):
            real = shutil.which(name)
            if real is not None:
                (self._bin / name).symlink_to(real)
        for name in (*STUBBED, *STUBBED_TOO):
            stub = self._bin / name
            stub.write_text(_STUB, encoding="utf-8")
            stub.chmod(0o755)


ENVIRON = {"HOME": HOME, "USER": "user", "LOGNAME": "user", "LANG": "C.UTF-8"}


@contextmanager
def sandbox(checkout: Checkout) -> Iterator[Sandbox]:
    """A sandbox that is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="field.") as top:
        yield Sandbox(Path(top), checkout)


def _real(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError(f"{name} is not installed")
    return found


def _end(program: "subprocess.Popen[bytes]") -> None:
    try:
        os.killpg(program.pid, 9)
    except ProcessLookupError:
        return
    finally:
        program.wait()
