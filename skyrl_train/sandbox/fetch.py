"""Images into the job's store before a sandbox waits for them: from an archive, a mirror or a registry, then built.

The store itself is the memory: what is there is not fetched again, and a fetch that was killed left nothing that counts.
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
"""Asking again gives the same."""
_LIMITED = ("toomanyrequests", "429")
_LOADED = ("Loaded image: ", "Loaded image(s): ")


class Step(StrEnum):
    PRESENT = "present"
    LOAD = "load"
    PULL = "pull"
    BUILD = "build"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """What became of one image. `detail` says why it failed; empty where it is there now."""

    image: str
    step: Step
    seconds: float
    detail: str = ""
    derived: str = ""
    tries: int = 1
    log: str = ""
    """The end of a build's output, where it failed."""

    @property
    def ok(self) -> bool:
        return not self.detail

    def to_json(self, at: float) -> str:
        fields = {"image": self.image, "step": self.step.value, "ok": self.ok, "seconds": round(self.seconds, 3)}
        more = {"tries": self.tries, "derived": self.derived, "detail": self.detail}
        return json.dumps({"at": round(at, 3), **fields, **{name: value for name, value in more.items() if value}})


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """Where images come from and how long a try may take. `mirror` stands in a registry's place. `scratch`: where the
    recipes of builds lie; the system's place for such files where it is not said.
    """

    archive: str = ""
    mirror: str = ""
    tries: int = 3
    limit_s: float = 1800.0
    build: BuildOptions | None = None
    context: str = ""
    scratch: str | None = None


class Store:
    """The images of the store that the environment names."""

    def __init__(self, podman: PodmanCli) -> None:
        self._podman = podman

    def names(self) -> frozenset[str]:
        """All of them. Raises TrainError where podman does not say."""
        done = self._podman.run("images", "--format", "json", limit_s=SHORT_S)
        if not done.ok:
            raise TrainError(
                f"podman images: {done.said}; see skyrl-doctor preflight --role runtime --select POD for the store"
            )
        return parse_names(done.out)

    def has(self, name: str) -> bool:
        return self._podman.run("image", "exists", name, limit_s=SHORT_S).ok

    def digest(self, name: str) -> str:
        done = self._podman.run("image", "inspect", "--format", "{{.Digest}}", name, limit_s=SHORT_S)
        return done.out.strip() if done.ok else ""


def parse_names(text: str) -> frozenset[str]:
    """`podman images --format json`; `null` where there are none."""
    try:
        images = parse_objects(text or "null", "the answer of podman images")
        return frozenset(name for image in images for name in image.texts("Names", ()))
    except FormatError as error:
        raise TrainError(str(error)) from None


class Fetcher:
    """Fetches one image after the other; several threads may call it at once."""

    def __init__(
        self,
        podman: PodmanCli,
        ways: Ways,
        *,
        wait: Callable[[float], object],
        clock: Callable[[], float] = time.monotonic,
        told: Callable[[str, Step], None] = lambda _image, _step: None,
    ) -> None:
        self._podman = podman
        self._store = Store(podman)
        self._ways = ways
        self._wait = wait
        self._clock = clock
        self._told = told
        self._archives: Collection[str] = frozenset(os.listdir(ways.archive)) if ways.archive else ()

    def fetch(self, reference: Reference, *, again: bool = False) -> Fetched:  # FIX(IMG005)
        """The image in the store, and where that is asked for its derived image too. `again`: though it is there."""
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
            detail = f"not in the store, and {self._ways.archive} holds no archive of it"
            return Fetched(image=name, step=Step.LOAD, seconds=self._clock() - began, detail=detail)
        step = Step.LOAD if archive is not None else Step.PULL
        detail, tries = "", 0
        self._told(name, step)
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
        """Why it failed; empty where the image is there under its name."""
        done = self._podman.run("load", "--quiet", "--input", path, limit_s=self._ways.limit_s)
        if not done.ok:
            return f"podman load {path}: {done.said}"
        if self._store.has(name):
            return ""
        loaded = _loaded(done)
        if len(loaded) != 1:
            return f"{path} holds {', '.join(loaded) or 'no image'}; wanted {name}"
        tagged = self._podman.run("tag", loaded[0], name, limit_s=SHORT_S)
        return "" if tagged.ok else f"{path} holds {loaded[0]}, which cannot be called {name}: {tagged.said}"

    def _pull(self, reference: Reference) -> str:
        mirror = self._ways.mirror
        if not mirror:
            done = self._podman.run("pull", "--quiet", str(reference), limit_s=self._ways.limit_s)
            return "" if done.ok else f"podman pull: {done.said}"
        if reference.digest:
            return "a name by digest cannot be given to what a mirror holds; name the mirror in registries.conf instead"
        there = f"{mirror.rstrip('/')}/{reference.path}:{reference.tag or 'latest'}"
        host = mirror.partition("/")[0].partition(":")[0]
        plain = ("--tls-verify=false",) if host in ("localhost", "127.0.0.1") else ()
        done = self._podman.run("pull", "--quiet", *plain, there, limit_s=self._ways.limit_s)
        if done.ok:
            done = self._podman.run("tag", there, str(reference), limit_s=SHORT_S)
        if done.ok:
            done = self._podman.run("untag", there, there, limit_s=SHORT_S)
        return "" if done.ok else f"from {there}: {done.said}"

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
        self._told(name, Step.BUILD)
        done = self._build(recipe, derived)
        detail, log = ("", "") if done.ok else (f"podman build: {done.said}", done.log)
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
