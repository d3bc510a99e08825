"""A store of an ordinary user for one test: real podman, no registry, nothing shared with another test.

Hosts differ: what the store's containers.conf says is probed, not assumed.
"""

import codecs
import contextlib
import ctypes
import hashlib
import io
import os
import pickle
import resource
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from skyrl_doctor.cli.app import dispatch
from skyrl_doctor.core.model import Outcome, Role
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.machine.recorded import Recorder
from support import judge, registry

IMAGE = "localhost/box:latest"
SHORT_S = 300.0
"""For what takes a second where all is well: this machine may be slow, and do other things too."""
_PR_SET_DUMPABLE = 4
_STEP_S = 0.02
_LIMIT = 20_000


@dataclass(frozen=True)
class User:
    """Who runs podman. As root the lane steps down to a user of its own."""

    name: str
    uid: int
    gid: int

    @property
    def is_self(self) -> bool:
        return self.uid == os.getuid()

    def become(self) -> None:
        """For a child process: from root to this user, with /proc/self readable again."""
        if self.is_self:
            return
        os.setgroups([])
        os.setresgid(self.gid, self.gid, self.gid)
        os.setresuid(self.uid, self.uid, self.uid)
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)


@dataclass(frozen=True)
class Lab:
    """One store. `env` is the whole environment of its podman and of the doctor that looks at it."""

    base: Path
    user: User
    env: Mapping[str, str]
    ends: list[Callable[[], object]] = field(default_factory=list)

    @property
    def graph(self) -> Path:
        return self.base / "graph"

    @property
    def xdg(self) -> Path:
        return Path(self.env["XDG_RUNTIME_DIR"])

    @property
    def pause_file(self) -> Path:
        return self.xdg / "libpod" / "tmp" / "pause.pid"

    @property
    def storage_conf(self) -> Path:
        return Path(self.env["CONTAINERS_STORAGE_CONF"])

    def but(self, **changes: str | None) -> "Lab":
        """This store seen from another environment; None takes a variable away."""
        merged = {**self.env, **{name: value for name, value in changes.items() if value is not None}}
        return replace(self, env={name: value for name, value in merged.items() if changes.get(name, "") is not None})

    def forgotten(self) -> "Lab":
        """The store deleted as a user deletes a directory, and what Podman finds in its place."""
        self.kill_all()
        shutil.rmtree(self.graph)
        shutil.rmtree(self.xdg)
        for path in (self.graph, self.xdg):
            path.mkdir(mode=0o700)
            os.chown(path, self.user.uid, self.user.gid)
        return self

    def podman(self, *words: str, limit_s: float = SHORT_S) -> "subprocess.CompletedProcess[str]":
        return self.run(["podman", *words], limit_s=limit_s)

    def run(self, argv: list[str], *, limit_s: float = SHORT_S) -> "subprocess.CompletedProcess[str]":
        """Runs as the lab's user; 124 where it does not end in time."""
        process = self.start(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            out, _ = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return subprocess.CompletedProcess(argv, 124, "")
        return subprocess.CompletedProcess(argv, process.returncode, out)

    def start(self, argv: list[str], **options: Any) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            argv,
            env=dict(self.env),
            cwd=self.base,
            text=True,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=self.user.become,
            **options,
        )

    def sandbox(self) -> "subprocess.CompletedProcess[str]":
        """What a rollout needs: a container that starts, runs and ends."""
        return self.podman("run", "--rm", "--pull=never", IMAGE, "true")

    def detached(self, name: str, *words: str) -> str:
        done = self.podman("run", "-d", "--name", name, "--pull=never", IMAGE, *(words or ("sleep", "300")))
        assert done.returncode == 0, done.stdout
        return done.stdout.splitlines()[-1]

    def pids(self) -> dict[str, int]:
        """Every process that a pid file of this store names, by the file."""
        files = [*self.xdg.glob("libpod/tmp/pause.pid"), *self.xdg.glob("containers/*/*/userdata/conmon.pid")]
        files += self.xdg.glob("containers/*/*/userdata/pidfile")
        texts = {str(file): file.read_text().strip() for file in files}
        return {file: int(text) for file, text in texts.items() if text.isdigit()}

    def kill_all(self, *, reaped: bool = False) -> None:
        """What Slurm does to a job at its end. Until init has reaped them, the dead are zombies."""
        pids = [pid for pid in self.pids().values() if owner_of(pid) == self.user.uid]
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in pids:
            wait_until(lambda pid=pid: state_of(pid) in ("", *(() if reaped else ("Z",))))

    def doctor(self, check_id: str) -> Outcome:
        """What the doctor says of this store, as its user and in its environment."""
        return self.child(lambda: judge(check_id, LocalMachine(self.env), role=Role.RUNTIME))

    def heal(self, outcome: Outcome, *, limit_s: float = SHORT_S) -> None:
        """Runs the commands that an outcome's remedies name, as its reader would paste them."""
        for finding in outcome.findings:
            assert finding.remedy is not None
            for command in finding.remedy.commands:
                self.run(["bash", "-c", command], limit_s=limit_s)

    def record(self, check_ids: tuple[str, ...], directory: Path, about: Mapping[str, str]) -> None:
        """Keeps what the probes of these checks read, as tests/machines does."""

        def look() -> None:
            recorder = Recorder(LocalMachine(self.env))
            for check_id in check_ids:
                judge(check_id, recorder, role=Role.RUNTIME)
            recorder.write(str(directory), about=about)

        self.child(look)

    def command_line(self, *words: str) -> str:
        """What skyrl-doctor prints with these words, as the lab's user and in its environment."""

        def call() -> str:
            os.environ.clear()
            os.environ.update(self.env)
            with contextlib.redirect_stdout(io.StringIO()) as out:
                assert dispatch(words) == 0
            return out.getvalue()

        return str(self.child(call))

    def child(self, work: Callable[[], Any]) -> Any:
        """Calls `work` in a child process that has become the lab's user."""
        registry()  # a user who is not root may not be able to read this interpreter's modules
        codecs.lookup("utf-8-sig")
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            _answer(writer, self, work)
        os.close(writer)
        with open(reader, "rb") as pipe:
            data = pipe.read()
        os.waitpid(pid, 0)
        value = pickle.loads(data)
        if isinstance(value, BaseException):
            raise value
        return value

    def listing(self) -> dict[str, tuple[int, int, int, int, int, str]]:
        """All there is in the store: inode, mode, size, times of change, and content."""
        return {str(path): _identity(path) for path in sorted(_walk(self.base))}

    def close(self) -> None:
        with contextlib.ExitStack() as stack:  # one that fails keeps none of the others from running
            stack.callback(self._sweep)
            for end in self.ends:
                stack.callback(end)

    def _sweep(self) -> None:
        self.kill_all()
        if self.user.is_self:  # files of subordinate ids: only their own namespace, or root, may remove them
            self.podman("unshare", "rm", "-rf", str(self.graph))
            self.kill_all()
        shutil.rmtree(self.base, ignore_errors=True)


def _answer(writer: int, lab: Lab, work: Callable[[], Any]) -> None:
    try:
        lab.user.become()
        os.chdir(lab.base)
        data = pickle.dumps(work())
    except BaseException as error:  # noqa: BLE001 -- handed to the test, which raises it
        data = pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))
    with open(writer, "wb") as pipe:
        pipe.write(data)
    os._exit(0)


def _walk(top: Path) -> Iterator[Path]:
    for directory, names, files in os.walk(top):
        yield from (Path(directory) / name for name in (*names, *files))


def _identity(path: Path) -> tuple[int, int, int, int, int, str]:
    found = path.lstat()
    content = ""
    if path.is_file() and not path.is_symlink():
        with contextlib.suppress(PermissionError):
            content = hashlib.sha256(path.read_bytes()).hexdigest()
    return found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns, content


def strays(directory: Path) -> list[int]:
    """Processes that were started with a run-time directory below this one."""
    wanted = f"XDG_RUNTIME_DIR={directory}/".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                words = (entry / "environ").read_bytes().split(b"\0")
                found += [int(entry.name)] if any(word.startswith(wanted) for word in words) else []
    return found


def owner_of(pid: int) -> int | None:
    try:
        return os.stat(f"/proc/{pid}").st_uid
    except FileNotFoundError:
        return None


def state_of(pid: int) -> str:
    """As ps(1) shows it; empty where there is no such process."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return ""


def wait_until(condition: Callable[[], bool], limit_s: float = SHORT_S) -> None:
    """Polls: the kernel tells nobody when a stranger's process has gone."""
    end = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end, "it did not come about in time"
        threading.Event().wait(_STEP_S)


def write_configuration(base: Path, engine: str, *, containers: str = "") -> dict[str, str]:
    """The files and variables of a store of its own below `base`; the environment of its user."""
    for name in ("xdg", "data", "config", "home", "graph"):
        (base / name).mkdir(mode=0o700)
    graph = base / "graph"
    (base / "storage.conf").write_text(
        f'[storage]\ndriver = "overlay"\ngraphroot = "{graph}"\nrootless_storage_path = "{graph}"\n'
    )
    (base / "containers.conf").write_text(f"[containers]\n{containers}[engine]\n{engine}")
    return {
        "PATH": os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin",
        "HOME": str(base / "home"),
        "XDG_RUNTIME_DIR": str(base / "xdg"),
        "XDG_DATA_HOME": str(base / "data"),
        "XDG_CONFIG_HOME": str(base / "config"),
        "CONTAINERS_STORAGE_CONF": str(base / "storage.conf"),
        "CONTAINERS_CONF": str(base / "containers.conf"),
    }


def engine_of_this_host(*, tun_usable: bool) -> tuple[str, str]:
    """The [containers] and [engine] settings without which podman does not run here."""
    # Podman asks for more than an unprivileged user may have, unless it is told.
    files, processes = (_below(kind) for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC))
    containers = f'default_ulimits = ["nofile={files}:{files}", "nproc={processes}:{processes}"]\n'
    if not tun_usable:
        containers += 'netns = "host"\n'
    mounts = Path("/proc/self/mountinfo").read_text()
    hybrid = " - cgroup " in mounts and " - cgroup2 " in mounts
    runtime = "runc" if hybrid or not shutil.which("crun", path="/usr/bin:/usr/sbin") else "crun"
    engine = f'cgroup_manager = "cgroupfs"\nevents_logger = "file"\nruntime = "{runtime}"\n'
    return containers, engine


def _below(kind: int) -> int:
    hard = resource.getrlimit(kind)[1]
    return _LIMIT if hard == resource.RLIM_INFINITY else min(hard, _LIMIT)


def may_open(user: User, path: str) -> bool:
    """Whether the user may open a device, asked as the user."""
    return subprocess.Popen(["test", "-w", path], preexec_fn=user.become).wait() == 0


def may_read(user: User, path: str) -> bool:
    """Whether the user may enter and read a directory."""
    return (
        subprocess.Popen(
            ["ls", path], preexec_fn=user.become, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ).wait()
        == 0
    )
