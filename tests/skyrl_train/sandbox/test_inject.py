"""What a container gets in place of what its image says."""

import subprocess
import sys
from pathlib import Path

import pytest

from skyrl_train.contracts.sandbox.wire import ALLOCATOR
from skyrl_train.sandbox.image_pythons import PROBE, read_probe
from skyrl_train.sandbox.inject import (
    PYTHON,
    SANDBOXD,
    ImageFacts,
    Injection,
    InjectionError,
    Mount,
    MountedPython,
    Python,
    facts_of,
    mount,
    native,
    port_of,
    whole_command,
)
from skyrl_train.sandbox.mounted_python import bundle_python

BINARY = "/usr/local/bin/openhands-agent-server"
OWN = Python(path="/usr/bin/python3", version=(3, 10, 12))
OLD = Python(path="/usr/bin/python3", version=(3, 7, 3))
FROM_HOST = MountedPython(source="/srv/python", command=(f"{PYTHON}/bin/python3",), version=(3, 12, 1))
REAL = {"OH_ENABLE_VSCODE": "false", "LITELLM_LOCAL_MODEL_COST_MAP": "True", "OPENHANDS_SUPPRESS_BANNER": "1"}
SERVED = (SANDBOXD, "--host", "0.0.0.0", "--port", "60000")


def test_an_images_own_python_runs_sandboxd() -> None:
    image = ImageFacts(pythons=(OLD, OWN), entrypoint=("/entry.sh",), user="10001")
    assert mount(image, sandboxd="/srv/sandboxd.pyz", session_key="k", mounted_python=FROM_HOST) == Injection(
        command=("/usr/bin/python3", "-I", "-S", "-B", *SERVED),
        mounts=(Mount(source="/srv/sandboxd.pyz", target=SANDBOXD),),
        environment={**ALLOCATOR, "OH_SESSION_API_KEYS_0": "k"},
        user="0",
    )


@pytest.mark.parametrize("pythons", [(), (OLD,), None])
def test_a_mounted_python_stands_in_where_it_has_none(pythons: tuple[Python, ...] | None) -> None:
    injected = mount(ImageFacts(pythons=pythons), sandboxd="/s", session_key="k", mounted_python=FROM_HOST)
    assert injected.command == (f"{PYTHON}/bin/python3", "-I", "-S", "-B", *SERVED)
    assert injected.mounts == (Mount(source="/s", target=SANDBOXD), Mount(source="/srv/python", target=PYTHON))


@pytest.mark.parametrize(("pythons", "said"), [((), "none"), ((OLD,), "3.7.3"), (None, "none")])
def test_without_any_python_the_refusal_says_what_there_was(pythons: tuple[Python, ...] | None, said: str) -> None:
    with pytest.raises(InjectionError, match=rf"^the image's Pythons: {said}; sandboxd needs 3\.8 or newer"):
        mount(ImageFacts(pythons=pythons), sandboxd="/s", session_key="k")


def test_the_client_gives_variables_a_directory_and_a_port_and_never_the_key() -> None:
    asked = {"A": "b", "OH_SESSION_API_KEYS_0": "mine", "OH_SESSION_API_KEYS_7": "mine", "SESSION_API_KEY": "mine"}
    injected = mount(
        ImageFacts(pythons=(OWN,), user="agent:agent"),
        sandboxd="/s",
        session_key="k",
        as_root=False,
        environment=asked,
        working_dir="/testbed",
        requested=(BINARY, "--port", "8080"),
    )
    assert dict(injected.environment) == {**ALLOCATOR, "A": "b", "OH_SESSION_API_KEYS_0": "k"}
    assert (injected.user, injected.working_dir, injected.port) == ("agent", "/testbed", 8080)
    assert injected.command[-1] == "8080"


def test_limits_of_the_whole_sandbox_are_handed_on() -> None:
    image = ImageFacts(pythons=(OWN,))
    limited = mount(image, sandboxd="/s", session_key="k", processes=512, memory_mib=4096)
    assert limited.command[-9:] == (*SERVED, "--processes", "512", "--memory-mib", "4096")


def test_no_sandbox_is_without_a_key() -> None:
    with pytest.raises(InjectionError, match="session key"):
        mount(ImageFacts(pythons=(OWN,)), sandboxd="/s", session_key="")
    with pytest.raises(InjectionError, match="session key"):
        native(ImageFacts(), (BINARY,), session_key="")


@pytest.mark.parametrize("entrypoint", [(), (BINARY,), ("/entry.sh",), ("/bin/sh", "-c")])
def test_the_real_server_stands_in_its_command_line_once(entrypoint: tuple[str, ...]) -> None:
    assert whole_command(entrypoint, (BINARY, "--port", "60000")) == (BINARY, "--port", "60000")


@pytest.mark.parametrize("requested", [(BINARY, "--port", "60000"), ("tini", "--", BINARY, "--port", "60000")])
def test_an_images_init_stays_before_it(requested: tuple[str, ...]) -> None:
    assert whole_command(("tini", "--", BINARY), requested) == ("tini", "--", BINARY, "--port", "60000")


@pytest.mark.parametrize("requested", [(), (BINARY,), (BINARY, "--port", "60000", "--host", "0.0.0.0")])
def test_the_real_server_listens_where_it_is_reached(requested: tuple[str, ...]) -> None:
    injected = native(ImageFacts(entrypoint=(BINARY,), user="10001"), requested, session_key="k")
    assert injected.command == (BINARY, "--port", "60000", "--host", "0.0.0.0")
    assert dict(injected.environment) == {**REAL, "OH_SESSION_API_KEYS_0": "k"}
    assert injected.user == "0"


@pytest.mark.parametrize(
    ("command", "port"),
    [((), 60000), (("x", "--port", "8000"), 8000), (("x", "--port=8000"), 8000), (("--port",), 60000)],
)
def test_port_of_a_command(command: tuple[str, ...], port: int) -> None:
    assert port_of(command) == port


@pytest.mark.parametrize("text", ["80", "65536", "x", "-1", "٣٠٠٠", ""])
def test_a_port_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InjectionError, match=r"^--port .*: wanted 1024 to 65535"):
        port_of(("x", "--port", text))


@pytest.mark.parametrize(
    ("inspected", "facts"),
    [
        ({}, ImageFacts()),
        ({"Config": None, "Digest": "", "Id": "abc"}, ImageFacts(digest="abc")),
        (
            {
                "Digest": "sha256:1",
                "Config": {"Entrypoint": ["a"], "Cmd": None, "Env": ["A=b=c", "E="], "User": "u", "WorkingDir": "/w"},
            },
            ImageFacts(
                entrypoint=("a",), environment={"A": "b=c", "E": ""}, user="u", working_dir="/w", digest="sha256:1"
            ),
        ),
        ({"Config": {"Entrypoint": "/bin/sh", "Env": 7}}, ImageFacts(entrypoint=("/bin/sh",))),
    ],
)
def test_facts_of_an_inspected_image(inspected: dict[str, object], facts: ImageFacts) -> None:
    assert facts_of(inspected) == facts


def test_the_probe_finds_the_pythons_of_a_machine() -> None:
    path = str(Path(sys.executable).parent)
    ran = subprocess.run(
        ["/bin/sh", "-c", PROBE], env={"PATH": path}, capture_output=True, text=True, timeout=300, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    found = read_probe(ran.stdout)
    assert found[0] == Python(path=f"{path}/python3", version=tuple(sys.version_info[:3]))
    assert len({python.path for python in found}) == len(found)


@pytest.mark.parametrize(
    ("printed", "found"),
    [
        ("", ()),
        ("Welcome!\npython /usr/bin/python3 3 10 12\r\n", ()),
        ("Welcome!\npython /usr/bin/python3 3 10 12\npython relative 3 10 1\npython /a 3 x 1", (OWN,)),
    ],
)
def test_what_the_probe_printed(printed: str, found: tuple[Python, ...]) -> None:
    assert read_probe(printed) == found


def test_a_python_for_mounting_is_copied_once_and_knows_its_place(tmp_path: Path) -> None:
    mounted = bundle_python(tmp_path)
    source = Path(mounted.source)
    assert mounted.version == tuple(sys.version_info[:3])
    assert mounted.command[-1] == f"{PYTHON}/bin/python3"
    assert (source / "bin/python3").exists()
    (source / "mark").touch()
    assert bundle_python(tmp_path) == mounted
    assert (source / "mark").exists()
    here = [word.replace(PYTHON, mounted.source) for word in mounted.command]
    program = "import sys, json, socket, subprocess, select; print(sys.prefix)"
    ran = subprocess.run(
        [*here, "-I", "-S", "-c", program], env={}, capture_output=True, text=True, timeout=300, check=True
    )
    assert ran.stdout.strip() == mounted.source


@pytest.mark.parametrize("python", ["/no/such/python", "/bin/false"])
def test_a_python_that_cannot_be_asked_is_said(tmp_path: Path, python: str) -> None:
    with pytest.raises(InjectionError, match=python):
        bundle_python(tmp_path, python)
