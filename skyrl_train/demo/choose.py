"""Chooses the sandbox of the demo: Podman if it works, else a temporary directory with a warning."""

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
UNSAFE = "UNSAFE: the commands run in a temporary directory on this machine, as your user, with access to your files and network"


@dataclass(frozen=True, slots=True)
class Chosen:
    """The chosen sandbox. `notes` are lines to print for the user."""

    make: MakeSandbox
    python: str
    notes: tuple[str, ...]


async def choose(requested: str, *, image: str | None, python: str | None, environ: Mapping[str, str]) -> Chosen:
    """The sandbox for `requested`: auto, podman or directory. UsageError if it cannot be used."""
    if image is not None:
        base = Image(image, python or "python3")
        if why := await _unusable(base, base.python, environ):
            raise UsageError(f"image {image} cannot be used: {why}; it needs bash and a python3 with pytest")
        make = functools.partial(podman_sandbox, base=base, environ=environ)
        return Chosen(make, base.python, (f"sandbox: Podman, image {image}, no network",))
    found = await asyncio.to_thread(suite_python, python)
    notes: tuple[str, ...] = ()
    if requested != "directory":
        programs = HostPrograms(found.path, (*found.directories, str(Path(found.path).parent)))
        why = await _unusable(programs, found.path, environ)
        if not why:
            make = functools.partial(podman_sandbox, base=programs, environ=environ)
            return Chosen(make, found.path, ("sandbox: Podman, this machine's programs read-only, no network",))
        if requested == "podman":
            raise UsageError(f"Podman cannot be used: {why}; --sandbox directory works without Podman, but is unsafe")
        notes = (f"Podman cannot be used here: {why}",)
    return _in_a_directory(found, notes, environ)


def _in_a_directory(found: SuitePython, notes: tuple[str, ...], environ: Mapping[str, str]) -> Chosen:
    return Chosen(functools.partial(directory_sandbox, environ=environ), found.path, (*notes, UNSAFE))


async def _unusable(base: Image | HostPrograms, python: str, environ: Mapping[str, str]) -> str:
    """Why a container cannot be used; empty if it runs bash and a Python with pytest."""
    with tempfile.TemporaryDirectory(prefix="skyrl-probe-") as seed:
        (Path(seed) / "testbed").mkdir()
        try:
            async with asyncio.timeout(PROBE_S), podman_sandbox(Path(seed), base=base, environ=environ) as sandbox:
                result = await sandbox.run(
                    Action("terminal", {"command": f"{python} -c 'import pytest'"}), limit_s=PROBE_S
                )
        except FileNotFoundError:
            return "podman is not installed"
        except TimeoutError:
            return f"timed out after {PROBE_S:g} s"
        except Exception as error:  # noqa: BLE001 -- any fault of Podman only means that the demo runs without it
            return " ".join(str(error).split()).removeprefix("the sandbox's tools ended: ")[:300]
    return "" if result.exit_code == 0 else result.text.split("\n[The command")[0].strip()[-300:]
