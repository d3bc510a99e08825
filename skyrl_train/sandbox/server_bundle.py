"""The real agent server as one directory that any image runs: a Python with its loader and libraries, and its packages.

It has its own C library, so the image's does not matter (IMG008). The same directory is mounted read-only, or copied
into a derived image.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from skyrl_train.contracts import bounded
from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.typed import FormatError, parse_object
from skyrl_train.process import run
from skyrl_train.sandbox.mounted_python import ask_python, copy_python, loader_command, run_tool
from skyrl_train.sandbox.server_source import (
    DISTRIBUTION,
    MANIFEST,
    Kind,
    ServerSource,
    installed_version,
    python_for,
)

PLACE = "/opt/skyrl/agent-server"
"""Its path in a sandbox."""
SITE, RUN, START = "site", "run.py", "server"
_INSTALL_S, _ASK_S = 1800.0, 60.0
_LAST_CHARS = 1500
_RUN = """\
import os, runpy, site, sys

if sys.argv[1:3] == ["-m", "openhands.agent_server"]:
    del sys.argv[1:3]
site.addsitedir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "site"))
runpy.run_module("openhands.agent_server", run_name="__main__", alter_sys=True)
"""
_START = '#!/bin/sh\nexec {command} "$@"\n'
_ASK_SITE = "import sysconfig; print(sysconfig.get_path('purelib'))"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerBundle:
    """`directory` is mounted at PLACE. `site`: the packages, if they are in an environment of the user instead."""

    directory: str
    version: str
    fingerprint: str
    """Differs for other packages or another Python."""
    command: tuple[str, ...]
    site: str = ""

    @property
    def python(self) -> tuple[str, ...]:
        """Its Python alone, for our own programs."""
        return self.command[: self.command.index("-I")]


def make_bundle(source: ServerSource, place: Path, *, whole: bool, name: str = "") -> ServerBundle:
    """Makes a bundle below `place`, or reuses one. `whole`: with the packages inside, to copy into an image.

    Raises UsageError or InjectionError. It appears by rename, so an incomplete one is never used.
    """
    if source.kind is Kind.BUNDLE:
        return read_bundle(Path(source.path))
    python = python_for(source)
    executable, library, version = ask_python(python)
    own_site = Path(run_tool([python, "-I", "-c", _ASK_SITE]).strip()) if source.kind is Kind.VENV else None
    found = _version(source, own_site)
    fingerprint = _fingerprint(source, own_site, f"{version} {executable}")
    target = place / (name or f"agent-server-{fingerprint}{'-whole' * (whole and own_site is not None)}")
    if target.exists():
        return read_bundle(target)
    place.mkdir(parents=True, exist_ok=True)
    half_done = place / f".{target.name}.{os.getpid()}"
    shutil.rmtree(half_done, ignore_errors=True)
    half_done.mkdir()
    try:
        _fill(half_done, source, python, own_site, whole=whole)
        copy_python(half_done, executable, library, version=version, site=own_site or half_done / SITE)
        made = ServerBundle(
            directory="",
            version=found,
            fingerprint=fingerprint,
            command=(*loader_command(half_done, PLACE), "-I", "-S", f"{PLACE}/{RUN}"),
            site="" if whole or own_site is None else str(own_site),
        )
        _write_starters(half_done, made)
        half_done.rename(target)
    finally:
        shutil.rmtree(half_done, ignore_errors=True)
    return replace(made, directory=str(target))


def read_bundle(directory: Path) -> ServerBundle:
    """Opens a bundle that was made before, here or elsewhere. Raises UsageError."""
    try:
        found = parse_object(bounded.read_bytes(directory / MANIFEST), MANIFEST)
        return ServerBundle(
            directory=str(directory),
            version=found.text("version"),
            fingerprint=found.text("fingerprint"),
            command=found.texts("command"),
            site=found.text("site", ""),
        )
    except (OSError, FormatError) as error:
        raise UsageError(
            f"{directory}/{MANIFEST} cannot be used: {error}; run skyrl-train images server again"
        ) from error


def _fill(target: Path, source: ServerSource, python: str, own_site: Path | None, *, whole: bool) -> None:
    """Installs the packages; makes an empty mount point if they stay in the user's environment."""
    site = target / SITE
    if own_site is None:
        _install(source, python, site)
    elif whole:
        shutil.copytree(own_site, site, symlinks=False, ignore_dangling_symlinks=True)
    else:
        site.mkdir()


def _install(source: ServerSource, python: str, site: Path) -> None:
    wanted = f"{DISTRIBUTION.replace('_', '-')}=={source.version}"
    words = ["--quiet", "--target", str(site), wanted]
    if source.kind is Kind.WHEELS:
        words = ["--no-index", "--find-links", source.path, *words]
    argv = _installer(python, words)
    done = run(argv, limit_s=_INSTALL_S)
    if not done.ok:
        last = " ".join((done.error_text or done.text).split())[-_LAST_CHARS:]
        why = f"timed out after {_INSTALL_S:g} s: {last}" if done.timed_out else last
        raise UsageError(f"sandbox.agent_server: {wanted} cannot be installed from {source.path or 'the index'}: {why}")


def _installer(python: str, words: list[str]) -> list[str]:
    has_pip = run([python, "-m", "pip", "--version"], limit_s=_ASK_S).ok
    if has_pip:
        return [python, "-m", "pip", "install", "--disable-pip-version-check", *words]
    uv = shutil.which("uv")
    if uv is None:
        raise UsageError(f"{python} has no pip, and uv is not on PATH; install one of them")
    return [uv, "pip", "install", "--python", python, *words]


def _version(source: ServerSource, site: Path | None) -> str:
    if site is None:
        return source.version
    found = installed_version(site)
    if found is None:
        raise UsageError(f"sandbox.agent_server = {source.path!r}: openhands-agent-server is not installed in {site}")
    return found


def _fingerprint(source: ServerSource, site: Path | None, python: str) -> str:
    made = hashlib.sha256(f"{source.kind} {source.version} {python}\n".encode())
    for line in _contents(source, site):
        made.update(f"{line}\n".encode())
    return made.hexdigest()[:16]


def _contents(source: ServerSource, site: Path | None) -> Iterator[str]:
    """A fingerprint of the packages."""
    if site is not None:
        for record in sorted(site.glob("*.dist-info/RECORD")):
            yield f"{record.parent.name} {hashlib.sha256(record.read_bytes()).hexdigest()}"
    elif source.kind is Kind.WHEELS:
        for wheel in sorted(Path(source.path).glob("*.whl")):
            yield f"{wheel.name} {wheel.stat().st_size}"


def _write_starters(target: Path, made: ServerBundle) -> None:
    (target / RUN).write_text(_RUN, encoding="utf-8")
    start = target / START
    start.write_text(_START.format(command=" ".join(made.command)), encoding="utf-8")
    start.chmod(0o755)
    (target / MANIFEST).write_text(json.dumps(asdict(made)), encoding="utf-8")
