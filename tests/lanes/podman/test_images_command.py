"""`skyrl-train images` on a real store: archives made on the spot, no registry."""

import concurrent.futures.thread  # noqa: F401 -- loaded before a fork becomes a user who may not read it
import contextlib
import io
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from lanes.podman.lab import IMAGE, Lab, wait_until
from skyrl_doctor.core.model import Role
from skyrl_doctor.machine import queries as q
from skyrl_doctor.machine.local import LocalMachine
from skyrl_train.cli import images as _  # noqa: F401 -- as above
from skyrl_train.cli.app import dispatch
from support import judge, plan_of

pytestmark = pytest.mark.podman
NAMES = ("docker.io/skyrl/one:1", "docker.io/skyrl/two:1")


@pytest.fixture
def archive(lab: Lab) -> Path:
    """Archives of two images of the lane's, under the names of the dataset."""
    directory = lab.base / "archive"
    directory.mkdir()
    os.chown(directory, lab.user.uid, lab.user.gid)
    for name in NAMES:
        file = directory / (name.replace("/", "_").replace(":", "_") + ".tar")
        assert lab.podman("tag", IMAGE, name).returncode == 0
        assert lab.podman("save", "--quiet", "--output", str(file), name).returncode == 0
        assert lab.podman("untag", IMAGE, name).returncode == 0
    return directory


def rows(lab: Lab, *names: str) -> str:
    file = lab.base / "rows.jsonl"
    file.write_text("".join(json.dumps({"docker_image": name}) + "\n" for name in names))
    return str(file)


def images(lab: Lab, *words: str) -> tuple[int, str]:
    """Exit status and what was printed. A fork of this process: the lab's user may not run our interpreter."""

    def call() -> tuple[int, str]:
        os.environ.clear()
        os.environ.update(lab.env)
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
            return dispatch(["images", *words]), out.getvalue()

    status, printed = lab.child(call)
    return int(status), str(printed)


def test_lists_loads_and_checks(lab: Lab, archive: Path) -> None:
    target = rows(lab, *NAMES)
    assert images(lab, "check", target)[0] == 1
    log = lab.base / "home" / "log.jsonl"
    status, printed = images(lab, "pull", target, "--archive", str(archive), "--log", str(log))
    assert (status, printed.splitlines()[-1].partition(" after ")[0]) == (0, "2 of 2 images present"), printed
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert sorted((line["image"], line["step"], line["ok"]) for line in lines) == [
        (name, "load", True) for name in NAMES
    ]
    assert images(lab, "check", target)[0] == 0
    assert lab.podman("run", "--rm", "--pull=never", NAMES[0], "true").returncode == 0


def test_builds_a_derived_image_once(lab: Lab, archive: Path) -> None:
    context = lab.base / "context"
    (context / "usr" / "local" / "bin").mkdir(parents=True)
    server = context / "usr" / "local" / "bin" / "openhands-agent-server"
    server.write_text("#!/bin/sh\necho built in\n")
    server.chmod(0o755)
    words = (rows(lab, NAMES[0]), "--archive", str(archive), "--agent-server", str(context))
    log = lab.base / "home" / "log.jsonl"
    status, printed = images(lab, "build", *words, "--log", str(log))
    assert status == 0, printed
    (line,) = [json.loads(text) for text in log.read_text().splitlines()]
    assert line["step"] == "build"
    ran = lab.podman("run", "--rm", "--pull=never", line["derived"], "/usr/local/bin/openhands-agent-server")
    assert ran.stdout.strip() == "built in"
    assert "already present" in images(lab, "build", *words)[1]


def test_a_kill_in_the_middle_is_understood_by_the_next_start(lab: Lab, archive: Path) -> None:
    target = rows(lab, *NAMES)
    pid = os.fork()
    if pid == 0:
        os.setsid()
        with contextlib.suppress(BaseException):
            images(lab, "pull", target, "--archive", str(archive), "--jobs", "1")
        os._exit(0)
    wait_until(lambda: loading(lab))
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    wait_until(lambda: not loading(lab))
    status, printed = images(lab, "pull", target, "--archive", str(archive))
    assert status == 0, printed
    assert lab.doctor("POD006").findings == ()
    assert lab.podman("run", "--rm", "--pull=never", NAMES[1], "true").returncode == 0


def loading(lab: Lab) -> bool:
    """Whether a podman of this store loads an image right now."""
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
        except OSError:
            continue
        if b"load" in words and any(str(lab.base).encode() in word for word in words):
            return True
    return False


def test_the_doctor_sees_what_is_missing(lab: Lab) -> None:
    target = rows(lab, IMAGE, NAMES[0])
    said = lab.child(lambda: examined(lab, target))
    assert said == {
        "IMG002": [],
        "IMG005": [
            "1 of 2 images are not in the store: docker.io/skyrl/one:1; expected all of them before the first step"
        ],
        "IMG009": [],
    }


class WithoutPython(LocalMachine):
    """The lane's user may not run our interpreter: what its programs would say of the dataset is said here."""

    def answer(self, query: q.Query[Any]) -> Any:
        if not isinstance(query, q.Ask):
            return super().answer(query)
        said: dict[str, object] = {"logins": []}
        if query.child == "dataset_images":
            (file,) = json.loads(query.args[0])["files"]
            found = [json.loads(line) for line in Path(file).read_text().splitlines()]
            said = {"files": [{"file": file, "rows": len(found), "without": 0, "found": found}]}
        return q.Completed(command=query.child, rc=0, out=json.dumps(said) + "\n")


def examined(lab: Lab, target: str) -> dict[str, list[str]]:
    plan = plan_of(data__train_files=[target], sandbox__inject="mount")
    machine = WithoutPython(lab.env)
    outcomes = {name: judge(name, machine, plan=plan, role=Role.RUNTIME) for name in ("IMG002", "IMG005", "IMG009")}
    return {name: [found.message for found in outcome.findings] for name, outcome in outcomes.items()}
