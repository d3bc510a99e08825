"""sandboxd in real containers: as their first process, with their Python or one of the host's."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanes.podman.conftest import NewLab, load
from lanes.podman.lab import Lab, wait_until
from lanes.podman.sandbox_lab import Box, Supplies, box, context_with_python, injected, supplies_in
from skyrl_train.sandbox.image_pythons import PROBE, read_probe
from skyrl_train.sandbox.inject import ImageFacts, Python

pytestmark = pytest.mark.podman
HOG = "/opt/skyrl/python/libs/ld-* --library-path /opt/skyrl/python/libs /opt/skyrl/python/bin/python3 -I -S -c "
EAT = "'held = []\nwhile True: held.append(bytearray(8 << 20))'"
BOMB = "bomb() { bomb | bomb & }; bomb; sleep 60"


@pytest.fixture(scope="module")
def supplies(workshop: Path) -> Supplies:
    return supplies_in(workshop / "supplies")


@pytest.fixture(scope="module")
def store(new_lab: NewLab, image_archive: Path) -> Iterator[Lab]:
    """One for all tests of this module."""
    lab = new_lab()
    load(lab, image_archive)
    yield lab
    lab.close()


@pytest.fixture(scope="module")
def bare(store: Lab, supplies: Supplies) -> Iterator[Box]:
    """From an image that holds busybox and nothing else: no C library, no Python, no bash."""
    with box(store, "bare", injected(supplies, ImageFacts())) as made:
        yield made


def test_an_image_without_a_c_library_gets_the_hosts_python(bare: Box) -> None:
    assert bare.run("id -u; cat /proc/1/comm; echo $0") == (0, "0\nld-linux-x86-64\n/bin/sh\n", None)
    assert "sandboxd: version" in bare.log()


def test_files_go_in_and_out(bare: Box) -> None:
    content = bytes(range(256)) * 40_000
    up = bare.client.post("/api/file/upload", params={"path": "/deep/down/file"}, files={"file": ("f", content)})
    assert up.json() == {"success": True, "file_size": len(content)}
    down = bare.client.get("/api/file/download", params={"path": "/deep/down/file"})
    assert hashlib.sha256(down.content).digest() == hashlib.sha256(content).digest()


def test_its_mounts_cannot_be_changed(bare: Box) -> None:
    for path in ("/opt/skyrl/sandboxd.pyz", "/opt/skyrl/python/bin/python3"):
        assert bare.run(f"echo x > {path}")[0] != 0
        answer = bare.client.post("/api/file/upload", params={"path": path}, files={"file": ("f", b"x")})
        assert answer.status_code in (403, 500)


def test_orphans_are_reaped(bare: Box) -> None:
    """The first process of a container inherits what others leave."""
    assert bare.run("for i in 1 2 3; do (sleep 0.2 > /dev/null 2>&1 &) ; done")[0] == 0
    states = "cat /proc/[0-9]*/stat"
    wait_until(lambda: "(sleep)" not in (bare.run(states)[1] or ""))


def test_it_ends_at_once_when_podman_stops_it(store: Lab, supplies: Supplies) -> None:
    with box(store, "stopped", injected(supplies, ImageFacts())) as made:
        made.client.post("/api/bash/start_bash_command", json={"command": "sleep 600"})
        assert store.podman("stop", "--time", "8", "stopped").returncode == 0
        told = store.podman("inspect", "--format", "{{.State.ExitCode}}", "stopped").stdout.strip()
        assert (told, "ended as asked" in made.log()) == ("0", True)


def test_an_images_own_python_is_found_and_used(store: Lab, supplies: Supplies, workshop: Path) -> None:
    context = context_with_python(workshop / "context", supplies.python)
    built = store.podman("build", "-q", "-t", "localhost/with-python", str(context), limit_s=120.0)
    assert built.returncode == 0, built.stdout
    probed = store.podman(
        "run", "--rm", "--pull=never", "--entrypoint", "/bin/sh", "localhost/with-python", "-c", PROBE
    )
    pythons = read_probe(probed.stdout)
    assert pythons == (Python(path="/usr/bin/python3", version=supplies.python.version),)
    injection = injected(supplies, ImageFacts(pythons=pythons))
    assert [each.target for each in injection.mounts] == ["/opt/skyrl/sandboxd.pyz"]
    with box(store, "own", injection, image="localhost/with-python") as made:
        assert made.run("cat /proc/1/comm; ls /opt/skyrl") == (0, "python3\nsandboxd.pyz\n", None)


def test_an_image_without_python_has_none_to_be_found(store: Lab) -> None:
    probed = store.podman("run", "--rm", "--pull=never", "--entrypoint", "/bin/sh", "localhost/box:latest", "-c", PROBE)
    assert (probed.returncode, read_probe(probed.stdout)) == (0, ())


@pytest.mark.parametrize(
    ("command", "limits", "said"),
    [
        (BOMB, {"processes": 60}, "processes, more than the 60 that a sandbox may have: all were ended"),
        (HOG + EAT, {"memory_mib": 256}, "MiB of memory, more than the 256 that a sandbox may have"),
    ],
    ids=["fork bomb", "memory hog"],
)
def test_what_goes_too_far_ends_itself_alone(
    store: Lab, supplies: Supplies, bare: Box, command: str, limits: dict[str, int], said: str
) -> None:
    """By sandboxd's own limits: rootless Podman leaves its own out of account where cgroups are of the first version."""
    with box(store, "hostile", injected(supplies, ImageFacts(), **limits)) as hostile:
        exit_code, _, stderr = hostile.run(command, timeout=30)
        assert exit_code in (-9, 137)
        assert said in stderr
        assert said in hostile.log()
        wait_until(lambda: hostile.run("echo still here")[1] == "still here\n")
        assert bare.run("echo unharmed") == (0, "unharmed\n", None)


def test_no_sandbox_reaches_into_another(store: Lab, supplies: Supplies, bare: Box) -> None:
    with box(store, "other", injected(supplies, ImageFacts())) as other:
        other.run("sleep 600 > /dev/null 2>&1 &")
        assert "sleep" not in (bare.run("cat /proc/[0-9]*/comm")[1] or "")
