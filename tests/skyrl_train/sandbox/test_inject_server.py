"""The real agent server in an image, by a mount; its refusals; our first process before it."""

import pytest

from skyrl_train.contracts.sandbox.glibc import System
from skyrl_train.sandbox.inject import SANDBOXD, ImageFacts, Injection, InjectionError, Mount
from skyrl_train.sandbox.inject_server import Asked, guarded, mount_bundle, mount_program
from skyrl_train.sandbox.server_bundle import PLACE, ServerBundle

BINARY = "/usr/local/bin/openhands-agent-server"
COMMAND = (f"{PLACE}/bin/python3", "-I", "-S", f"{PLACE}/run.py")
BUNDLE = ServerBundle(directory="/srv/b", version="1.58.0", fingerprint="f", command=COMMAND, site="/srv/venv/site")
ASKED = Asked(session_key="k", environment={"A": "b", "SESSION_API_KEY": "mine"}, requested=(BINARY, "--port", "8000"))
ENVIRONMENT = {
    "OH_ENABLE_VSCODE": "false",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OPENHANDS_SUPPRESS_BANNER": "1",
    "A": "b",
    "OH_SESSION_API_KEYS_0": "k",
}
LISTENS = ("--host", "0.0.0.0", "--port", "8000")


def test_packages_bring_their_own_python() -> None:
    assert mount_bundle(ImageFacts(system=System(name="old", glibc=(2, 17))), BUNDLE, ASKED) == Injection(
        command=(*COMMAND, *LISTENS),
        mounts=(Mount(source="/srv/b", target=PLACE), Mount(source="/srv/venv/site", target=f"{PLACE}/site")),
        environment=ENVIRONMENT,
        port=8000,
    )


@pytest.mark.parametrize("glibc", [None, (2, 36), (2, 41)])
def test_the_program_runs_on_a_library_of_its_time(glibc: tuple[int, int] | None) -> None:
    image = ImageFacts(system=System(name="some", glibc=glibc))
    assert mount_program(image, "/srv/program", ASKED) == Injection(
        command=(BINARY, *LISTENS),
        mounts=(Mount(source="/srv/program", target=BINARY),),
        environment=ENVIRONMENT,
        port=8000,
    )


@pytest.mark.parametrize(
    ("name", "glibc", "has"), [("Ubuntu 22.04", (2, 35), "glibc 2.35"), ("Alpine", (0, 0), "musl, and no glibc")]
)
def test_an_older_library_is_refused(name: str, glibc: tuple[int, int], has: str) -> None:
    wanted = f"^IMG008: the image is {name}, with {has}; the released openhands-agent-server needs glibc 2.36 or newer"
    with pytest.raises(InjectionError, match=wanted):
        mount_program(ImageFacts(system=System(name=name, glibc=glibc)), "/srv/program", ASKED)


def test_no_key_is_refused() -> None:
    with pytest.raises(InjectionError, match="without a session key"):
        mount_bundle(ImageFacts(), BUNDLE, Asked(session_key="", environment={}))


def test_our_first_process_stands_before_it() -> None:
    injection = mount_bundle(ImageFacts(), BUNDLE, ASKED)
    made = guarded(injection, python=("py",), sandboxd="/srv/s.pyz", processes=64, memory_mib=0)
    options = ("--processes", "64", "--run", "--")
    assert made.command == ("py", "-I", "-S", "-B", SANDBOXD, *options, *injection.command)
    assert made.mounts == (*injection.mounts, Mount(source="/srv/s.pyz", target=SANDBOXD))
