"""POD007."""

import pytest

from checks.pod.shared import isolate
from checks.pod.store_locked import store_locked
from fakes.podman_store import BASE, STORE
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Role, Severity, Status
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.podman.locks import HeldLock, PodmanHeldLocks
from support import judge

JOB = Environ({"SLURM_JOB_ID": "4711"})
END = "end the process that holds the lock"


def judged(*held: HeldLock, unread: tuple[str, ...] = ()) -> list[Finding]:
    return list(store_locked(STORE, PodmanHeldLocks(held=held, apart_s=0.5, unread=unread), JOB))


def found(who: str, files: str, severity: Severity, remedy: Remedy) -> Finding:
    message = f"{who} has held {files} for 0.5 s or longer, and every podman command waits for it; expected a free lock"
    return Finding(message=message, severity=severity, remedy=remedy)


def end(command: str, summary: str = END) -> Remedy:
    return Remedy(kind=RemedyKind.RETRY, summary=summary, commands=(command,))


def test_names_the_holder_of_each_lock() -> None:
    by_python = [HeldLock(path=path, pid=7, name="python", command="python x.py", state="S") for path in ("/a", "/b")]
    by_podman = HeldLock(path="/c", pid=8, name="podman", command="podman pull x", state="S")
    assert judged(*by_python, by_podman) == [
        found("pid 7 (python x.py)", "/a, /b", Severity.ERROR, end("kill 7")),
        found("pid 8 (podman pull x)", "/c", Severity.WARNING, end("kill 8", "wait until it is done, or end it")),
    ]


def test_a_stopped_podman_never_lets_go() -> None:
    stopped = HeldLock(path="/a", pid=8, name="podman", command="podman ps", state="T")
    assert judged(stopped) == [found("pid 8 (podman ps), which is stopped,", "/a", Severity.ERROR, end("kill -KILL 8"))]


def test_a_holder_that_the_kernel_does_not_name_is_left_alone() -> None:
    lock = HeldLock(path="/a", pid=None)
    assert judged(lock) == [found(lock.holder, "/a", Severity.ERROR, isolate(STORE, JOB))]


def test_locks_of_which_nothing_is_known_are_unknown() -> None:
    with pytest.raises(CouldNotLook, match=r"^it is unknown which process holds the store's locks: /a: tells nothing$"):
        judged(unread=("/a: tells nothing",))
    assert judged() == []


def test_reproduces_on_a_recording() -> None:
    image = "docker.io/namanjain12/orange3_final:2d9617bd0cb1f0ba61771258410ab8fae8e7e24d"
    who = f"pid 11970 (podman pull {image}), which is stopped,"
    assert judge("POD007", "store_locked", role=Role.RUNTIME) == Outcome(
        id="POD007",
        slug="store-locked",
        status=Status.FAIL,
        findings=(found(who, f"{BASE}/graph/storage.lock", Severity.ERROR, end("kill -KILL 11970")),),
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("POD007", "clean_runtime_node", role=Role.RUNTIME) == Outcome(
        id="POD007", slug="store-locked", status=Status.PASS
    )
