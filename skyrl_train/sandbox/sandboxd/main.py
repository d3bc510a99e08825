"""Starts sandboxd: `python sandboxd.pyz --port 60000`, the session key in the environment."""

from __future__ import annotations

import os
import signal
import socket
import sys
import time

from skyrl_train.contracts.sandboxd_api import PORT, SESSION_KEY_VARIABLES
from skyrl_train.sandbox.sandboxd import init_process
from skyrl_train.sandbox.sandboxd.children import Children, seal
from skyrl_train.sandbox.sandboxd.commands import OUTPUT_LIMIT, Commands, child_environment
from skyrl_train.sandbox.sandboxd.events import Events
from skyrl_train.sandbox.sandboxd.limit_enforcer import LimitEnforcer
from skyrl_train.sandbox.sandboxd.routes import VERSION, Routes
from skyrl_train.sandbox.sandboxd.server import Server, listen, log

USAGE = f"""usage: sandboxd [--host HOST] [--port PORT] [--output-limit BYTES] [--processes N] [--memory-mib N]
       sandboxd [--processes N] [--memory-mib N] --run -- COMMAND…
Without --host it listens on every address where a session key is set ({" or ".join(SESSION_KEY_VARIABLES)}), and on 127.0.0.1 where none is.
"""
RUN = "--run"
LOOPBACK = ("127.0.0.1", "::1", "localhost")
EVERYWHERE = "0.0.0.0"  # noqa: S104 - a container's port is published from any of its addresses
_GRACE_S = 1.0
_SWITCH_S = 0.0002
"""How long a thread waits for another one. Ours are short; while many processes end, one always computes."""
_MOST = {"port": 65535, "output-limit": 1 << 30, "processes": 1 << 22, "memory-mib": 1 << 30}


class ArgumentError(Exception):
    """Invalid arguments or settings."""


def main(argv: list[str] | None = None) -> int:
    started = time.monotonic()
    try:
        words, command = divided(sys.argv[1:] if argv is None else argv)
        options = read_arguments(words)
        if options.get("help"):
            sys.stdout.write(USAGE)
            return 0
        if "run" in options:
            return init_process.run(command, start_enforcer=limit_enforcer_of(options).start, log=log)
        keys = session_keys(dict(os.environ))
        host = options.get("host") or (EVERYWHERE if keys else LOOPBACK[0])
        if not keys and host not in LOOPBACK:
            raise ArgumentError(f"no session key: set {SESSION_KEY_VARIABLES[0]}, or use --host {LOOPBACK[0]}")
        listener = listen(host, int(options.get("port", PORT)))
    except (ArgumentError, OSError) as error:
        sys.stderr.write(f"sandboxd: {error}\n{USAGE}")
        return 2
    seal()
    children = serve(listener, keys, options)
    log(f"version {VERSION} listens on {_name(listener)}, {(time.monotonic() - started) * 1000:.1f} ms after its start")
    _wait_for_the_end()
    listener.close()
    children.end_all(grace_s=_GRACE_S)
    log("stopped by a signal")
    os._exit(0)  # threads that are in the middle of something must not see the interpreter taken down around them


def serve(listener: socket.socket, keys: list[str], options: dict[str, str]) -> Children:
    enforcer = limit_enforcer_of(options)
    enforcer.start()
    sys.setswitchinterval(_SWITCH_S)
    env = child_environment(dict(os.environ))
    children = Children()
    children.start_reaping()
    limit = int(options.get("output-limit", OUTPUT_LIMIT))
    commands = Commands(children, Events(), enforcer, env=env, limit=limit)
    Server(listener, Routes(commands, children, env=env), keys).start()
    return children


def limit_enforcer_of(options: dict[str, str]) -> LimitEnforcer:
    return LimitEnforcer(
        processes=int(options.get("processes", 0)), memory_mib=int(options.get("memory-mib", 0)), log=log
    )


def session_keys(environ: dict[str, str]) -> list[str]:
    """OH_SESSION_API_KEYS_0 and following, else SESSION_API_KEY. Empty keys are ignored: they would match everybody."""
    many, one = SESSION_KEY_VARIABLES
    prefix = many.rstrip("0")
    numbered = [name for name in sorted(environ) if name.startswith(prefix) and name[len(prefix) :].isdecimal()]
    keys = [environ[name] for name in numbered if environ[name]]
    return keys or [key for key in (environ.get(one, ""),) if key]


def divided(argv: list[str]) -> tuple[list[str], list[str]]:
    """Our own arguments, and the command of another server after `--run --`."""
    if RUN not in argv:
        return argv, []
    at = argv.index(RUN)
    command = argv[at + 2 :]
    if argv[at + 1 : at + 2] != ["--"] or not command:
        raise ArgumentError(f"{RUN} needs `-- COMMAND…` after it")
    return [*argv[:at], f"{RUN}=yes"], command


def read_arguments(argv: list[str]) -> dict[str, str]:
    """--name VALUE and --name=VALUE."""
    options: dict[str, str] = {}
    words = list(argv)
    while words:
        name, equals, value = words.pop(0).partition("=")
        if name in ("-h", "--help"):
            return {"help": "yes"}
        if name not in ("--host", RUN, *(f"--{number}" for number in _MOST)):
            raise ArgumentError(f"unknown argument {name!r}")
        if not equals:
            if not words:
                raise ArgumentError(f"{name} needs a value")
            value = words.pop(0)
        options[name[2:]] = value
    for name, most in _MOST.items():
        if name in options and not (options[name].isascii() and options[name].isdigit() and int(options[name]) <= most):
            raise ArgumentError(f"--{name} needs a number up to {int(most)}, found {options[name]!r}")
    return options


def _name(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"{host}:{port}"


def _wait_for_the_end() -> None:
    """The first process of a container ignores SIGTERM unless it has a handler."""
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    signal.set_wakeup_fd(write_end)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    wanted = {int(signal.SIGTERM), int(signal.SIGINT)}
    while not wanted.intersection(os.read(read_end, 16)):
        pass
