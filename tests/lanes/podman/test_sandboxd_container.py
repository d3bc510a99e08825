"""sandboxd in real containers: as their first process, with their Python or one of the host's."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanes.podman.conftest import NewLab, load
from lanes.podman.lab import IMAGE, Lab, wait_until
from lanes.podman.sandbox_lab import Box, Supplies, box, context_with_python, injected, supplies_in
from skyrl_train.sandbox.derive import BuildOptions, containerfile, derived_image
from skyrl_train.sandbox.image_pythons import PROBE, read_probe
from skyrl_train.sandbox.inject import ImageFacts, Python, facts_of, native

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
        assert store.podman("stop", "--time", "60", "stopped").returncode == 0
        told = store.podman("inspect", "--format", "{{.State.ExitCode}}", "stopped").stdout.strip()
        assert (told, "stopped by a signal" in made.log()) == ("0", True)


def test_an_images_own_python_is_found_and_used(store: Lab, supplies: Supplies, workshop: Path) -> None:
    context = context_with_python(workshop / "context", supplies.python)
    built = store.podman("build", "-q", "-t", "localhost/with-python", str(context))
    assert built.returncode == 0, built.stdout
    probed = store.podman(
        "run", "--rm", "--pull=never", "--entrypoint", "/bin/sh", "localhost/with-python", "-c", PROBE
    )
    pythons = read_probe(probed.stdout)
    assert pythons == (Python(path="/usr/bin/python3", version=supplies.python.version),)
    with injected(supplies, ImageFacts(pythons=pythons)) as injection:
        assert [each.target for each in injection.mounts] == ["/opt/skyrl/sandboxd.pyz"]
    with box(store, "own", injected(supplies, ImageFacts(pythons=pythons)), image="localhost/with-python") as made:
        assert made.run("cat /proc/1/comm; ls /opt/skyrl") == (0, "python3\nsandboxd.pyz\n", None)


def test_an_image_without_python_has_none_to_be_found(store: Lab) -> None:
    probed = store.podman("run", "--rm", "--pull=never", "--entrypoint", "/bin/sh", "localhost/box:latest", "-c", PROBE)
    assert (probed.returncode, read_probe(probed.stdout)) == (0, ())


@pytest.mark.parametrize(
    ("command", "limits", "said"),
    [
        (BOMB, {"processes": 60}, "more than the limit of 60 processes: all were killed"),
        (HOG + EAT, {"memory_mib": 256}, "MiB of memory, more than the limit of 256 MiB"),
    ],
    ids=["fork bomb", "memory hog"],
)
def test_what_goes_too_far_ends_itself_alone(
    store: Lab, supplies: Supplies, bare: Box, command: str, limits: dict[str, int], said: str
) -> None:
    """By sandboxd's own limits: rootless Podman leaves its own out of account where cgroups are of the first version."""
    backstop = ("--ulimit", "nproc=2000:2000")  # the host is left in peace even where sandboxd fails
    with box(store, "hostile", injected(supplies, ImageFacts(), **limits), *backstop) as hostile:
        exit_code, _, stderr = hostile.run(command, timeout=120)
        assert exit_code in (-9, 137)
        assert said in stderr
        assert said in hostile.log()
        wait_until(lambda: hostile.run("echo still here")[1] == "still here\n")
        assert bare.run("echo unharmed") == (0, "unharmed\n", None)


def test_a_gigabyte_goes_in_and_out_in_flat_memory(store: Lab, supplies: Supplies) -> None:
    piece, count = b"\r\n--not the boundary" * 50_000, 1100
    with box(store, "large", injected(supplies, ImageFacts())) as large:
        large.run("true")
        before = peak_kib(large)

        def body() -> Iterator[bytes]:
            yield b'--B\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\n'
            yield from (piece for _ in range(count))
            yield b"\r\n--B--\r\n"

        up = large.client.post(
            "/api/file/upload?path=/large",
            content=body(),
            headers={"content-type": "multipart/form-data; boundary=B"},
            timeout=300,
        )
        assert up.json() == {"success": True, "file_size": count * len(piece)}
        size = 0
        with large.client.stream("GET", "/api/file/download?path=/large", timeout=300) as down:
            for data in down.iter_raw():
                size += len(data)
        assert size == count * len(piece) > 1024**3
        assert peak_kib(large) - before < 8 * 1024


def test_a_flood_of_output_is_cut_with_a_notice_in_flat_memory(bare: Box) -> None:
    flood = "i=0; while [ $i -lt 8 ]; do cat /opt/skyrl/python/libs/libc.so.6; i=$((i+1)); done"
    for _ in range(4):
        bare.run(flood)
    before = peak_kib(bare)
    for _ in range(6):
        exit_code, stdout, _ = bare.run(flood)
        assert (exit_code, "bytes left out of" in stdout) == (0, True)
    assert peak_kib(bare) - before < 16 * 1024


def test_a_derived_image_holds_the_server_where_clients_start_it(store: Lab, workshop: Path) -> None:
    """A script stands for the server: what is shown is the recipe, not the server."""
    server = workshop / "derive/agent-server/.venv/bin/python"
    server.parent.mkdir(parents=True)
    server.write_text("#!/bin/sh\necho server $*\n")
    server.chmod(0o755)
    digest = store.podman("image", "inspect", "--format", "{{.Digest}}", IMAGE).stdout.strip()
    options = BuildOptions(sdk_version="1.58.0", target="source", from_context=True)
    recipe = server.parents[3] / "Containerfile"
    recipe.write_text(containerfile(IMAGE, digest, options))
    name = derived_image(digest, options)
    built = store.podman("build", "-q", "--pull=never", "-t", name, str(recipe.parent))
    assert built.returncode == 0, built.stdout
    facts = facts_of(json.loads(store.podman("image", "inspect", name).stdout)[0])
    asked = ("/agent-server/.venv/bin/python", "-m", "openhands.agent_server", "--port", "60000")
    command = native(facts, asked, session_key="k").command
    entry = ("--entrypoint", command[0])
    ran = store.podman("run", "--rm", "--pull=never", *entry, name, *command[1:])
    assert ran.stdout == "server -m openhands.agent_server --port 60000 --host 0.0.0.0\n"


def peak_kib(made: Box) -> int:
    lines = made.run("cat /proc/1/status")[1].splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def test_no_sandbox_reaches_into_another(store: Lab, supplies: Supplies, bare: Box) -> None:
    with box(store, "other", injected(supplies, ImageFacts())) as other:
        other.run("sleep 600 > /dev/null 2>&1 &")
        assert "sleep" not in (bare.run("cat /proc/[0-9]*/comm")[1] or "")
