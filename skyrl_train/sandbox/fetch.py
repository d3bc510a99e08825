"""Fetches images into the job's store: from an archive, a mirror or a registry, then builds in the agent server.

Images in the store are not fetched again, and a fetch that was killed leaves no usable image.
"""

import json
import os
import tempfile
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from skyrl_train.contracts.errors import TrainError
from skyrl_train.contracts.sandbox.references import Reference
from skyrl_train.contracts.sandbox.supply import archive_of
from skyrl_train.contracts.typed import FormatError, parse_objects
from skyrl_train.sandbox.derive import BuildOptions, containerfile, derived_image
from skyrl_train.sandbox.podman_cli import Done, PodmanCli

SHORT_S = 60.0
_HOPELESS = (
    *("manifest unknown", "name unknown", "repository not found", "invalid reference format"),
    *("access denied", "requested access to the resource is denied", "authentication required", "no space left"),
)
"""Errors that a retry cannot fix."""
_LIMITED = ("toomanyrequests", "429")
_LOADED = ("Loaded image: ", "Loaded image(s): ")


class Step(StrEnum):
    PRESENT = "present"
    LOAD = "load"
    PULL = "pull"
    BUILD = "build"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """The result for one image. `detail`: why it failed; empty if it is in the store now."""

    image: str
    step: Step
    seconds: float
    detail: str = ""
    derived: str = ""
    tries: int = 1
    log: str = ""
    """The end of a failed build's output."""

    @property
    def ok(self) -> bool:
        return not self.detail

    def to_json(self, at: float) -> str:
        fields = {"image": self.image, "step": self.step.value, "ok": self.ok, "seconds": round(self.seconds, 3)}
        more = {"tries": self.tries, "derived": self.derived, "detail": self.detail}
        return json.dumps({"at": round(at, 3), **fields, **{name: value for name, value in more.items() if value}})


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageSources:
    """The sources of images and the time limits. `mirror` replaces the registry. `scratch`: the directory for recipes of
    builds; default: the system's temporary directory.
    """

    archive: str = ""
    mirror: str = ""
    tries: int = 3
    limit_s: float = 1800.0
    build: BuildOptions | None = None
    context: str = ""
    scratch: str | None = None


class Store:
    """The images of a store."""

    def __init__(self, podman: PodmanCli) -> None:
        self._podman = podman

    def names(self) -> frozenset[str]:
        """All images. Raises TrainError if podman fails."""
        done = self._podman.run("images", "--format", "json", limit_s=SHORT_S)
        if not done.ok:
            raise TrainError(
                f"podman images: {done.error_text}; see skyrl-doctor preflight --role runtime --select POD for the store"
            )
        return parse_names(done.out)

    def has(self, name: str) -> bool:
        return self._podman.run("image", "exists", name, limit_s=SHORT_S).ok

    def digest(self, name: str) -> str:
        done = self._podman.run("image", "inspect", "--format", "{{.Digest}}", name, limit_s=SHORT_S)
        return done.out.strip() if done.ok else ""


def parse_names(text: str) -> frozenset[str]:
    """Parses `podman images --format json`, which prints `null` for no images."""
    try:
        images = parse_objects(text or "null", "the output of podman images")
        return frozenset(name for image in images for name in image.texts("Names", ()))
    except FormatError as error:
        raise TrainError(str(error)) from None


class Fetcher:
    """Fetches images; several threads may call it at once."""

    def __init__(
        self,
        podman: PodmanCli,
        ways: ImageSources,
        *,
        wait: Callable[[float], object],
        clock: Callable[[], float] = time.monotonic,
        on_step: Callable[[str, Step], None] = lambda _image, _step: None,
    ) -> None:
        self._podman = podman
        self._store = Store(podman)
        self._ways = ways
        self._wait = wait
        self._clock = clock
        self._on_step = on_step
        self._archives: Collection[str] = frozenset(os.listdir(ways.archive)) if ways.archive else ()

    def fetch(self, reference: Reference, *, again: bool = False) -> Fetched:  # FIX(IMG005)
        """Brings the image into the store, and its derived image if requested. `again`: even if it is there."""
        began = self._clock()
        found = self._base(reference, began, again=again)
        if not found.ok or self._ways.build is None:
            return found
        return self._built(reference, self._ways.build, began)

    def _base(self, reference: Reference, began: float, *, again: bool) -> Fetched:
        name = str(reference)
        if not again and self._store.has(name):
            return Fetched(image=name, step=Step.PRESENT, seconds=self._clock() - began)
        archive = archive_of(reference, self._archives)
        if self._ways.archive and archive is None:
            detail = f"not in the store, and {self._ways.archive} has no archive of it"
            return Fetched(image=name, step=Step.LOAD, seconds=self._clock() - began, detail=detail)
        step = Step.LOAD if archive is not None else Step.PULL
        detail, tries = "", 0
        self._on_step(name, step)
        while tries < self._ways.tries:
            tries += 1
            detail = self._load(f"{self._ways.archive}/{archive}", name) if archive else self._pull(reference)
            if not detail or any(word in detail.lower() for word in _HOPELESS):
                break
            if tries < self._ways.tries:
                limited = any(word in detail.lower() for word in _LIMITED)
                self._wait(min(300.0, (30.0 if limited else 1.0) * 2 ** (tries - 1)))
        return Fetched(image=name, step=step, seconds=self._clock() - began, detail=detail, tries=tries)

    def _load(self, path: str, name: str) -> str:
        """Why it failed; empty if the image is there under its name."""
        done = self._podman.run("load", "--quiet", "--input", path, limit_s=self._ways.limit_s)
        if not done.ok:
            return f"podman load {path}: {done.error_text}"
        if self._store.has(name):
            return ""
        loaded = _loaded(done)
        if len(loaded) != 1:
            return f"{path} contains {', '.join(loaded) or 'no image'}; expected {name}"
        tagged = self._podman.run("tag", loaded[0], name, limit_s=SHORT_S)
        return (
            "" if tagged.ok else f"{path} contains {loaded[0]}, which cannot be tagged as {name}: {tagged.error_text}"
        )

    def _pull(self, reference: Reference) -> str:
        mirror = self._ways.mirror
        if not mirror:
            done = self._podman.run("pull", "--quiet", str(reference), limit_s=self._ways.limit_s)
            return "" if done.ok else f"podman pull: {done.error_text}"
        if reference.digest:
            return "an image from a mirror cannot get a name with a digest; set the mirror in registries.conf instead"
        there = f"{mirror.rstrip('/')}/{reference.path}:{reference.tag or 'latest'}"
        host = mirror.partition("/")[0].partition(":")[0]
        plain = ("--tls-verify=false",) if host in ("localhost", "127.0.0.1") else ()
        done = self._podman.run("pull", "--quiet", *plain, there, limit_s=self._ways.limit_s)
        if done.ok:
            done = self._podman.run("tag", there, str(reference), limit_s=SHORT_S)
        if done.ok:
            done = self._podman.run("untag", there, there, limit_s=SHORT_S)
        return "" if done.ok else f"from {there}: {done.error_text}"

    def _built(self, reference: Reference, options: BuildOptions, began: float) -> Fetched:
        name = str(reference)
        try:
            digest = self._store.digest(name)
            derived = derived_image(digest, options)
            if self._store.has(derived):
                return Fetched(image=name, step=Step.PRESENT, seconds=self._clock() - began, derived=derived)
            recipe = containerfile(name, digest, options)
        except TrainError as error:
            return Fetched(image=name, step=Step.BUILD, seconds=self._clock() - began, detail=str(error))
        self._on_step(name, Step.BUILD)
        done = self._build(recipe, derived)
        detail, log = ("", "") if done.ok else (f"podman build: {done.error_text}", done.log)
        seconds = self._clock() - began
        return Fetched(image=name, step=Step.BUILD, seconds=seconds, detail=detail, derived=derived, log=log)

    def _build(self, recipe: str, derived: str) -> Done:
        with tempfile.TemporaryDirectory(prefix="skyrl-build-", dir=self._ways.scratch) as place:
            file = Path(place) / "Containerfile"
            file.write_text(recipe, encoding="utf-8")
            words = (
                "build",
                "--force-rm",
                "--layers=false",
                "--pull=never",
                "--network=none",
                "--tag",
                derived,
                "--file",
                str(file),
            )
            return self._podman.run(*words, self._ways.context or place, limit_s=self._ways.limit_s)


def _loaded(done: Done) -> list[str]:
    lines = [line for line in done.out.splitlines() if line.startswith(_LOADED)]
    names = [name.strip() for line in lines for name in line.partition(": ")[2].split(",")]
    return list(dict.fromkeys(name for name in names if name))
