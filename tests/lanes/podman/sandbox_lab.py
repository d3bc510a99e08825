"""Containers that sandboxd is brought into by a mount, in a store of the lane's."""

import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from lanes.podman.lab import IMAGE, Lab, wait_until
from lanes.ports import held_ports
from skyrl_train.sandbox.inject import ImageFacts, Injection, MountedPython, mount
from skyrl_train.sandbox.mounted_python import bundle_python
from skyrl_train.sandbox.sandboxd.bundle import write_zipapp

KEY = "a session key"
Injected = contextlib.AbstractContextManager[Injection]


@dataclass(frozen=True)
class Supplies:
    """What of the host is mounted into containers."""

    sandboxd: str
    python: MountedPython


@dataclass(frozen=True)
class Box:
    """A container with sandboxd, and a client that has its key."""

    name: str
    lab: Lab
    client: httpx.Client

    def run(self, command: str, **more: object) -> tuple[Any, Any, Any]:
        answer = self.client.post("/api/bash/execute_bash_command", json={"command": command, **more})
        assert answer.status_code == 200, answer.text
        told = answer.json()
        return told["exit_code"], told["stdout"], told["stderr"]

    def log(self) -> str:
        return self.lab.podman("logs", self.name).stdout


def supplies_in(directory: Path) -> Supplies:
    """Readable to the lane's user."""
    return Supplies(str(write_zipapp(directory)), bundle_python(directory))


@contextlib.contextmanager
def injected(supplies: Supplies, facts: ImageFacts, **options: Any) -> Iterator[Injection]:
    """The port is the same inside and outside: hosts without a tunnel device share their network with containers."""
    with held_ports(1) as (port,):
        requested, python = ("server", "--port", str(port)), supplies.python
        yield mount(
            facts, sandboxd=supplies.sandboxd, session_key=KEY, mounted_python=python, requested=requested, **options
        )


@contextlib.contextmanager
def box(lab: Lab, name: str, place: Injected, *words: str, image: str = IMAGE) -> Iterator[Box]:
    with place as injection:
        yield from _box(lab, name, injection, *words, image=image)


def _box(lab: Lab, name: str, injection: Injection, *words: str, image: str) -> Iterator[Box]:
    shared = 'netns = "host"' in Path(lab.env["CONTAINERS_CONF"]).read_text()
    publish = () if shared else ("-p", f"127.0.0.1:{injection.port}:{injection.port}")
    mounts = [word for each in injection.mounts for word in ("-v", f"{each.source}:{each.target}:ro")]
    variables = [word for pair in injection.environment.items() for word in ("-e", "=".join(pair))]
    places = ("--user", injection.user, "--workdir", injection.working_dir, "--entrypoint", injection.command[0])
    options = (*publish, *mounts, *variables, *places, "--security-opt", "no-new-privileges", *words)
    done = lab.podman("run", "-d", "--name", name, "--pull=never", *options, image, *injection.command[1:])
    assert done.returncode == 0, done.stdout
    headers = {"X-Session-API-Key": KEY}
    url = f"http://127.0.0.1:{injection.port}"
    try:
        with httpx.Client(base_url=url, headers=headers, timeout=300, trust_env=False) as client:
            made = Box(name, lab, client)
            wait_until(lambda: answers(client))
            yield made
    finally:
        lab.podman("rm", "-f", "-t", "0", name)


def answers(client: httpx.Client) -> bool:
    with contextlib.suppress(httpx.TransportError):
        return client.get("/alive").status_code == 200
    return False


def context_with_python(directory: Path, python: MountedPython) -> Path:
    """An image that has a Python of its own at /usr/bin, with its libraries where a loader looks."""
    source = Path(python.source)
    shutil.copytree(source / "lib", directory / "usr/lib")
    (directory / "usr/bin").mkdir()
    shutil.copy2(source / "bin/python3", directory / "usr/bin/python3")
    for place in ("lib64", "lib"):
        shutil.copytree(source / "libs", directory / place)
    copies = "COPY lib64 /lib64\nCOPY lib /lib\nCOPY usr /usr\n"
    (directory / "Containerfile").write_text(f"FROM {IMAGE}\n{copies}ENV PATH=/usr/bin:/bin\n")
    return directory
