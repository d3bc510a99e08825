"""Which sandbox the demonstration gets: Podman where it works, else a temporary directory, which is said to be unsafe."""

import asyncio
import functools
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from skyrl_train.agent.sandboxes.directory import directory_sandbox
from skyrl_train.agent.sandboxes.podman import HostPrograms, Image, podman_sandbox
from skyrl_train.contracts.agent.arguments import Action
from skyrl_train.contracts.errors import UsageError
from skyrl_train.demo.interpreter import SuitePython, suite_python
from skyrl_train.demo.play import MakeSandbox

PROBE_S = 30.0
UNSAFE = "UNSAFE: the commands run in a temporary directory of this machine, as you, with your files and your network"


@dataclass(frozen=True, slots=True)
class Chosen:
    """`notes` are lines for the person who looks on."""

    make: MakeSandbox
    python: str
    notes: tuple[str, ...]


async def choose(wanted: str, *, image: str | None, python: str | None, environ: Mapping[str, str]) -> Chosen:
    """`wanted` is auto, podman or directory. A UsageError says why there is none."""
    if image is not None:
        base = Image(image, python or "python3")
        if why := await _unusable(base, base.python, environ):
            raise UsageError(f"image {image} cannot be used: {why}; it needs bash and a python3 with pytest")
        make = functools.partial(podman_sandbox, base=base, environ=environ)
        return Chosen(make, base.python, (f"sandbox: Podman, image {image}, no network",))
    found = await asyncio.to_thread(suite_python, python)
    notes: tuple[str, ...] = ()
    if wanted != "directory":
        programs = HostPrograms(found.path, (*found.directories, str(Path(found.path).parent)))
        why = await _unusable(programs, found.path, environ)
        if not why:
            make = functools.partial(podman_sandbox, base=programs, environ=environ)
            return Chosen(make, found.path, ("sandbox: Podman, this machine's programs read-only, no network",))
        if wanted == "podman":
            raise UsageError(f"Podman cannot be used: {why}; --sandbox directory does without, unsafely")
        notes = (f"Podman cannot be used here: {why}",)
    return _in_a_directory(found, notes, environ)


def _in_a_directory(found: SuitePython, notes: tuple[str, ...], environ: Mapping[str, str]) -> Chosen:
    return Chosen(functools.partial(directory_sandbox, environ=environ), found.path, (*notes, UNSAFE))


async def _unusable(base: Image | HostPrograms, python: str, environ: Mapping[str, str]) -> str:
    """Why a container does not do; empty where it runs bash and a Python with pytest."""
    with tempfile.TemporaryDirectory(prefix="skyrl-probe-") as seed:
        (Path(seed) / "testbed").mkdir()
        try:
            async with asyncio.timeout(PROBE_S), podman_sandbox(Path(seed), base=base, environ=environ) as sandbox:
                asked = await sandbox.run(
                    Action("terminal", {"command": f"{python} -c 'import pytest'"}), limit_s=PROBE_S
                )
        except FileNotFoundError:
            return "podman is not installed"
        except TimeoutError:
            return f"no answer within {PROBE_S:g} s"
        except Exception as error:  # noqa: BLE001 -- whatever Podman's trouble is, the demonstration can do without
            return " ".join(str(error).split()).removeprefix("the sandbox's tools ended: ")[:300]
    return "" if asked.exit_code == 0 else asked.text.split("\n[The command")[0].strip()[-300:]
