"""The agent's `Sandbox` port over a sandbox of the runtime: the tools run inside, and are asked through two FIFOs.

Each command of the agent server is a process of its own, while a terminal's state has to last. So the tools are sent
once and started in the background; a request goes into one FIFO, its answer comes out of the other.
"""

import asyncio
import json
import shlex
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from skyrl_train.agent.sandboxes.bundle import write_bundle
from skyrl_train.contracts.agent.arguments import Action
from skyrl_train.contracts.agent.ports import OpenSandbox, Task
from skyrl_train.contracts.agent.transcript import Result
from skyrl_train.sandbox.client.commands import CommandResult
from skyrl_train.sandbox.client.failures import Cause
from skyrl_train.sandbox.client.runtime import RuntimeClient, SandboxRequest
from skyrl_train.sandbox.client.sandbox import Sandbox
from skyrl_train.sandbox.inject import SANDBOXD

PLACE = "/tmp/.skyrl-tools"  # noqa: S108 -- in the sandbox, whose /tmp is its own
PYTHONS = ("python3", "/usr/local/bin/python3", "/usr/bin/python3", "/testbed/.venv/bin/python")
_ISOLATED = "-I"
"""The first option that sandboxd's Python gets; what stands before starts that Python."""
_FIRST_PROCESS = "cat /proc/1/cmdline"
_INLINE_CHARS = 32_000
"""A longer request is sent as a file: the words of a command line have a limit."""
_START_S = 30.0
_GRACE_S = 15.0
_ANSWER_CHARS = 128 << 20

_START = """\
set -eu
cd {place}
rm -f in out; mkfifo -m 600 in out
for python in {pythons}; do
  $python -IS -c 'import sys; sys.exit(sys.version_info < (3, 8))' >/dev/null 2>&1 || continue
  if command -v setsid >/dev/null 2>&1; then new=setsid; else new=; fi
  $new $python -IS tools.zip {directory} <>in 1<>out 2>errors &
  exec head -n 1 <>out
done
echo "no Python 3.8 or newer in this image" >&2; exit 3
"""


_PROGRAM = """\
for python in {pythons}; do
  $python -IS -c 'import sys; sys.exit(sys.version_info < (3, 8))' >/dev/null 2>&1 || continue
  exec $python -IS {words}
done
echo "no Python 3.8 or newer in this image" >&2; exit 3
"""


class RemoteTools:
    """The tools in one sandbox. After any exception they are no longer usable."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._number = 0
        self._pythons: tuple[str, ...] = PYTHONS

    @property
    def files(self) -> Sandbox:
        """The sandbox itself, for access to its files."""
        return self._sandbox

    async def begin(self, directory: str) -> None:
        with tempfile.TemporaryDirectory(prefix="skyrl-tools-") as place:
            bundle = await asyncio.to_thread(write_bundle, Path(place) / "tools.zip")
            await self._sandbox.execute(f"mkdir -m 700 -p {PLACE}", timeout_s=_START_S)
            await self._sandbox.upload(bundle, f"{PLACE}/tools.zip")
        self._pythons = (*await self._own_python(), *PYTHONS)
        script = _START.format(place=PLACE, pythons=self._quoted_pythons(), directory=shlex.quote(directory))
        done = await self._sandbox.execute(script, timeout_s=_START_S)
        if done.exit_code != 0 or '"ready"' not in done.stdout:
            raise self._failure(f"the tools did not start: {_describe_output(done)}")

    async def run(self, action: Action, *, limit_s: float) -> Result:
        request = json.dumps({"tool": action.tool, "arguments": action.arguments, "limit_s": limit_s})
        self._number += 1
        if len(request) <= _INLINE_CHARS:
            send = f"printf '%s\\n' {shlex.quote(request)}"
        else:
            name = f"{PLACE}/request.{self._number}"
            await self._sandbox.upload(request.encode() + b"\n", name)
            send = f"cat {name}; rm -f {name}"
        command = f"cd {PLACE} && {{ {send}; }} >in && head -n 1 <>out"
        done = await self._sandbox.execute(command, timeout_s=limit_s + _GRACE_S, max_chars=_ANSWER_CHARS)
        return self._result(done)

    async def program(self, bundle: bytes, request: bytes, *, limit_s: float) -> str:
        """A process of the agent server, which answers through no FIFO: code in the sandbox cannot write its output."""
        self._number += 1
        names = [f"{PLACE}/{kind}.{self._number}" for kind in ("zip", "in")]
        for data, name in zip((bundle, request), names, strict=True):
            await self._sandbox.upload(data, name)
        script = _PROGRAM.format(pythons=self._quoted_pythons(), words=" ".join(names))
        done = await self._sandbox.execute(script, timeout_s=limit_s + _GRACE_S)
        if done.exit_code != 0 or done.truncated:
            raise self._failure(f"a program of ours failed: {_describe_output(done)}")
        return done.stdout

    def _quoted_pythons(self) -> str:
        return " ".join(map(shlex.quote, self._pythons))

    async def _own_python(self) -> tuple[str, ...]:
        """What runs sandboxd: the image's Python, or the one that was mounted because the image has none."""
        done = await self._sandbox.execute(_FIRST_PROCESS, timeout_s=_START_S)
        words = done.stdout.split("\0")
        command = words[: words.index(_ISOLATED)] if SANDBOXD in words and _ISOLATED in words else []
        plain = all(word and not any(char.isspace() for char in word) for word in command)
        return (" ".join(command),) if command and plain else ()

    def _result(self, done: CommandResult) -> Result:
        try:
            answer = json.loads(done.stdout) if done.exit_code == 0 and not done.truncated else None
        except ValueError:
            answer = None
        match answer:
            case {"text": str(text), "exit_code": int() | None as code, "timed_out": bool(late)}:
                return Result(text=text, exit_code=code, timed_out=late)
        raise self._failure(f"the tools gave no answer: {_describe_output(done)}")

    def _failure(self, detail: str) -> Exception:
        return self._sandbox.failed(Cause.LOST, "tools", detail)


def opener(
    runtime: RuntimeClient, wanted: Callable[[Task], SandboxRequest], *, directory: str = "/testbed"
) -> OpenSandbox:
    """What the agent's loop asks for: a task's sandbox, removed whatever happens."""
    return lambda task: remote_tools(runtime, wanted(task), directory=directory)


@asynccontextmanager
async def remote_tools(
    runtime: RuntimeClient, wanted: SandboxRequest, *, directory: str = "/testbed"
) -> AsyncIterator[RemoteTools]:
    """A sandbox of the runtime as the agent's loop wants it; removed whatever happens."""
    async with runtime.sandbox(wanted) as sandbox:
        tools = RemoteTools(sandbox)
        await tools.begin(directory)
        yield tools


def _describe_output(done: CommandResult) -> str:
    text = " ".join((done.stderr or done.stdout).split())[-500:] or "no output"
    return f"exit status {done.exit_code}, {text}"
