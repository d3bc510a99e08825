"""A Podman container as a sandbox: no network, only read-only mounts of this machine, always removed.

It uses an image of the local store, or an empty root with this machine's programs mounted, which is enough for the demo
and needs no registry.
"""

import contextlib
import os
import shutil
import tempfile
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from skyrl_train.agent.sandboxes.bundle import write_bundle
from skyrl_train.agent.sandboxes.piped import SandboxLostError, piped
from skyrl_train.contracts.agent.arguments import Action
from skyrl_train.contracts.agent.ports import Sandbox
from skyrl_train.process_async import run_async

LABEL = "skyrl-train=demo"
_PLACE = "/opt/skyrl"
_COPY_S = 60.0
_REMOVE_S = 20.0
_SYSTEM = ("/usr", "/etc/ld.so.cache", "/etc/alternatives")
_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")


@dataclass(frozen=True, slots=True)
class Image:
    """An image in the local store. `python` is the Python in it."""

    reference: str
    python: str = "python3"


@dataclass(frozen=True, slots=True)
class HostPrograms:
    """This machine's /usr and other directories, mounted read-only at the same paths."""

    python: str
    directories: tuple[str, ...] = ()


def podman_argv(name: str, base: Image | HostPrograms, base_dir: Path) -> list[str]:
    """The command that starts the tools in a container. `base_dir` holds the bundle, and the seed or the root made of it."""
    words = ["podman", "run", "--rm", "--interactive", "--name", name, "--label", LABEL, "--network", "none"]
    words += ["--security-opt", "label=disable", "--workdir", "/", "--env", "HOME=/root"]
    words += ["--volume", f"{base_dir}/tools.zip:{_PLACE}/tools.zip:ro"]
    if isinstance(base, Image):
        words += ["--pull", "never", "--volume", f"{base_dir}/seed:{_PLACE}/seed:ro", "--entrypoint", base.python]
        return [*words, base.reference, "-IS", f"{_PLACE}/tools.zip", "/testbed"]
    for directory in dict.fromkeys([*_SYSTEM, *_outside(base.directories)]):
        if os.path.exists(directory):
            words += ["--volume", f"{directory}:{directory}:ro"]
    return [*words, "--rootfs", f"{base_dir}/root", base.python, "-IS", f"{_PLACE}/tools.zip", "/testbed"]


def _outside(directories: Sequence[str]) -> list[str]:
    """The directories that are not inside another mount."""
    found: list[str] = []
    for directory in sorted(directories):
        if not any(f"{directory}/".startswith(f"{above}/") for above in ("/usr", *found)):
            found.append(directory)
    return found


@asynccontextmanager
async def podman_sandbox(
    seed: Path, *, base: Image | HostPrograms, environ: Mapping[str, str]
) -> AsyncIterator[Sandbox]:
    """A container whose root holds a copy of `seed`. Commands start in /testbed."""
    name = f"skyrl-demo-{uuid.uuid4().hex[:12]}"
    with tempfile.TemporaryDirectory(prefix="skyrl-podman-", ignore_cleanup_errors=True) as made:
        base_dir = Path(made)
        write_bundle(base_dir / "tools.zip")
        if isinstance(base, Image):
            shutil.copytree(seed, base_dir / "seed", symlinks=True)
        else:
            _write_root(base_dir / "root", seed)
        try:
            async with piped(podman_argv(name, base, base_dir), environ=environ, directory=made) as sandbox:
                await _copy_seed(sandbox, base)
                yield sandbox
        finally:
            await _remove(name, environ)


def _write_root(root: Path, seed: Path) -> None:
    """Writes a root directory: the seed, empty system directories, and this machine's links into /usr."""
    shutil.copytree(seed, root, symlinks=True)
    for name in ("root", "tmp", "etc", "dev", "proc", "sys", "run"):
        (root / name).mkdir(exist_ok=True)
    (root / "tmp").chmod(0o1777)
    (root / "etc" / "passwd").write_text("root:x:0:0:root:/root:/bin/bash\n", encoding="utf-8")
    for name in _LINKS:
        if os.path.islink(f"/{name}"):
            (root / name).symlink_to(os.readlink(f"/{name}"))


async def _copy_seed(sandbox: Sandbox, base: Image | HostPrograms) -> None:
    """Copies the seed into an image's root. A root made by `_write_root` has it already."""
    if not isinstance(base, Image):
        return
    copied = await sandbox.run(
        Action("terminal", {"command": f"cp -a {_PLACE}/seed/. /", "reset": True}), limit_s=_COPY_S
    )
    if copied.exit_code != 0:
        raise SandboxLostError(f"the task's files could not be copied into the container: {copied.text.strip()[:500]}")
    await sandbox.run(Action("terminal", {"command": "", "reset": True}), limit_s=_COPY_S)


async def _remove(name: str, environ: Mapping[str, str]) -> None:
    """Removes the container. If Podman does not answer, the label tells later that it can be removed."""
    argv = ["podman", "rm", "--force", "--ignore", "--time", "0", name]
    with contextlib.suppress(OSError):
        await run_async(argv, limit_s=_REMOVE_S, env=environ)
