"""Which agent server a configuration chooses, and what a session's container becomes by it."""

import dataclasses
import json
from pathlib import Path

import pytest

from fakes.engine import IMAGE
from skyrl_train.config.sections.sandbox import SandboxSection
from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.sandbox.glibc import System
from skyrl_train.contracts.sandbox.wire import State
from skyrl_train.sandbox.derive import derived_image
from skyrl_train.sandbox.inject import ImageFacts, InjectionError, Python
from skyrl_train.sandbox.runtime.injection import Chosen, choose, injector, ways_of
from skyrl_train.sandbox.runtime.record import Record
from skyrl_train.sandbox.runtime.settings import RuntimeSettings
from skyrl_train.sandbox.server_bundle import PLACE, ServerBundle
from skyrl_train.sandbox.start_request import StartRequest

BINARY = "/usr/local/bin/openhands-agent-server"
FACTS = ImageFacts(pythons=(Python(path="/usr/bin/python3", version=(3, 11, 2)),), digest="sha256:" + "0" * 64)
SETTINGS = RuntimeSettings(slots=1, pids=64, memory_mib=256)
RECORD = Record(
    runtime_id="skyrl-1",
    session_id="s1",
    request=StartRequest(image=IMAGE, session_id="s1", command=(BINARY, "--port", "60000"), environment={}),
    state=State.STARTING,
    key="k",
    port=1,
    store="/s",
    created=0.0,
)


@pytest.fixture
def bundle(tmp_path: Path) -> ServerBundle:
    """As `skyrl-train images server` leaves it."""
    made = ServerBundle(
        directory=str(tmp_path / "b"), version="1.58.0", fingerprint="f1", command=(f"{PLACE}/python", "-I", "run.py")
    )
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "agent-server.json").write_text(json.dumps(dataclasses.asdict(made)))
    return made


def chosen_by(tmp_path: Path, **section: object) -> Chosen:
    return choose(SandboxSection(**section), tmp_path / "place")  # type: ignore[arg-type]  # keys of the section


def command_of(chosen: Chosen, image: ImageFacts = FACTS) -> tuple[str, ...]:
    return injector(chosen, SETTINGS, as_root=True)(RECORD, image).command


def test_without_a_word_it_is_ours(tmp_path: Path) -> None:
    chosen = chosen_by(tmp_path)
    assert (chosen.name, chosen.derive) == ("sandboxd, mounted", None)
    assert "--run" not in command_of(chosen)


def test_the_real_one_is_mounted_behind_our_first_process(tmp_path: Path, bundle: ServerBundle) -> None:
    chosen = chosen_by(tmp_path, agent_server=bundle.directory)
    assert (chosen.name, chosen.bundle) == ("openhands-agent-server 1.58.0, mounted", bundle)
    words = command_of(chosen)
    assert words[0] == f"{PLACE}/python"
    assert words[words.index("--processes") :] == (
        *("--processes", "64", "--memory-mib", "256", "--run", "--"),
        *(f"{PLACE}/python", "-I", "run.py", "--host", "0.0.0.0", "--port", "60000"),
    )


def test_the_real_one_is_built_in_and_then_started_by_what_the_client_asked_for(
    tmp_path: Path, bundle: ServerBundle
) -> None:
    chosen = chosen_by(tmp_path, inject="build", agent_server=bundle.directory)
    assert chosen.recipe is not None
    assert (chosen.recipe.context, chosen.recipe.options.bundle) == (bundle.directory, "f1")
    assert chosen.derive is not None
    assert chosen.derive(FACTS).startswith("localhost/skyrl-derived:")
    words = command_of(chosen)
    assert words[words.index("--") + 1 :] == (BINARY, "--port", "60000", "--host", "0.0.0.0")
    ways = ways_of(SandboxSection(inject="build", image_mirror="m.site"), chosen)
    assert (ways.build, ways.context, ways.mirror) == (chosen.recipe.options, bundle.directory, "m.site")


def test_the_published_program_is_not_built_into_an_image_that_cannot_run_it(tmp_path: Path) -> None:
    chosen = chosen_by(tmp_path, inject="build")
    assert chosen.derive is not None
    with pytest.raises(InjectionError, match=r"^IMG008: the image is Debian 11, with glibc 2\.31"):
        chosen.derive(dataclasses.replace(FACTS, system=System(name="Debian 11", glibc=(2, 31))))


def test_a_program_is_built_in_out_of_a_directory_of_its_own(tmp_path: Path) -> None:
    program = tmp_path / "server"
    program.write_bytes(b"\x7fELF 1")
    first = chosen_by(tmp_path, inject="build", agent_server=str(program)).recipe
    assert first is not None
    assert Path(first.context + BINARY).read_bytes() == b"\x7fELF 1"
    program.write_bytes(b"\x7fELF 2")
    second = chosen_by(tmp_path, inject="build", agent_server=str(program)).recipe
    assert second is not None
    assert second.context != first.context
    assert derived_image("sha256:1", second.options) != derived_image("sha256:1", first.options)
    mounted = chosen_by(tmp_path, agent_server=str(program))
    assert (mounted.program, command_of(mounted)[-5]) == (str(program), BINARY)


def test_what_is_not_there_is_refused_when_the_server_comes_up(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such path"):
        chosen_by(tmp_path, agent_server=str(tmp_path / "absent"))
    with pytest.raises(UsageError, match=r"sandbox\.image_archive = .*: no such directory"):
        ways_of(SandboxSection(image_archive=str(tmp_path / "absent")), chosen_by(tmp_path))
