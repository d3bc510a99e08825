"""skyrl-train images: which images a run needs, which are here, and the others fetched or built ahead.

It works on the store that the environment names. In a job that is the job's own:
eval "$(skyrl-doctor env --shell)" && skyrl-train images pull run.toml
"""

import argparse
import contextlib
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import TextIO

from skyrl_train.cli.images_target import Asked, asked_of, with_words
from skyrl_train.config.sections.sandbox import SandboxSection
from skyrl_train.contracts.errors import TrainError, UsageError
from skyrl_train.contracts.sandbox.agent_server import BUILD_TARGET, TARGET_OF
from skyrl_train.contracts.sandbox.references import Reference
from skyrl_train.sandbox.fetch import Fetched, Fetcher, Step, Store, Ways
from skyrl_train.sandbox.podman_cli import PodmanCli
from skyrl_train.sandbox.recipe import recipe_of
from skyrl_train.sandbox.server_bundle import make_bundle
from skyrl_train.sandbox.server_source import INDEX, source_of

VERBS = ("list", "check", "pull", "build", "server")
NOT_ALL = 1
_MOST_BAD = 5


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "verb", choices=VERBS, help="list and check look, pull and build fetch what is not here; server makes DIR"
    )
    parser.add_argument(
        "target",
        metavar="TARGET",
        help="a RunConfig TOML, or a data set (.jsonl, .parquet); server: the directory to make",
    )
    parser.add_argument(
        "--archive", metavar="DIR", help="load from archives in DIR, named after the image, and pull nothing"
    )
    parser.add_argument("--mirror", metavar="HOST[/PATH]", help="pull from there in the registry's place")
    parser.add_argument("--prefix", metavar="P", help="put before names without a registry (default: docker.io/)")
    parser.add_argument("--jobs", type=_count, default=2, metavar="N", help="images at a time (default: 2)")
    parser.add_argument("--tries", type=_count, default=3, metavar="N", help="for each image (default: 3)")
    parser.add_argument(
        "--limit", type=_seconds, default=1800.0, metavar="S", help="seconds for one try (default: 1800)"
    )
    parser.add_argument(
        "--log", metavar="F", help="add a JSON line for each image (default: $SKYRL_JOB_DIR/images.jsonl)"
    )
    parser.add_argument(
        "--sdk-version", metavar="V", help="the agent server's version (default: sandbox.agent_server_version)"
    )
    parser.add_argument(
        "--agent-server",
        metavar="WHAT",
        help="build, server: an environment, wheels, a program or 'index' (default: sandbox.agent_server)",
    )
    targets = [name for names in TARGET_OF.values() for name in names]
    parser.add_argument(
        "--build-target", choices=targets, default=BUILD_TARGET, help=f"build: (default: {BUILD_TARGET})"
    )
    parser.add_argument("--server-image", metavar="IMAGE", help="build: the image that holds the agent server")


def run(args: argparse.Namespace) -> int:
    if args.verb == "server":
        return _server(args)
    asked = asked_of(args)
    for line in (*asked.bad[:_MOST_BAD], *asked.unread[:_MOST_BAD]):
        sys.stderr.write(f"skyrl-train images: {line}\n")
    if asked.unread:
        sys.stderr.write(f"skyrl-train images: {len(asked.unread)} rows cannot be read, and are left out\n")
    if asked.without:
        sys.stderr.write(f"skyrl-train images: {asked.without} rows name no image\n")
    podman = PodmanCli()
    fault = bool(asked.bad or asked.unread)
    try:
        if args.verb in ("list", "check"):
            absent = _listed(asked, Store(podman))
            return NOT_ALL if args.verb == "check" and (absent or fault) else 0
        return NOT_ALL if _fetched(args, asked, podman) or fault else 0
    except UsageError:
        raise
    except TrainError as error:
        sys.stderr.write(f"skyrl-train images: {error}\n")
        return NOT_ALL
    finally:
        podman.end_all()


def _count(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 64:
        raise argparse.ArgumentTypeError(f"{text}: wanted 1 to 64")
    return value


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value <= 86400:
        raise argparse.ArgumentTypeError(f"{text}: wanted seconds, at most a day")
    return value


def _server(args: argparse.Namespace) -> int:
    """The directory that `sandbox.agent_server` may name on any node: made once, with no network but for "index"."""
    sandbox = with_words(args, SandboxSection())
    source = source_of(sandbox.agent_server or INDEX, version=sandbox.agent_server_version)
    place = Path(os.path.abspath(args.target))
    if place.exists():
        raise UsageError(f"{place} is there already; name a directory that is to be made")
    try:
        bundle = make_bundle(source, place.parent, whole=True, name=place.name)
    except OSError as error:
        raise UsageError(f"{place}: {error.strerror or error}") from None
    sys.stdout.write(
        f"openhands-agent-server {bundle.version} in {bundle.directory}: name it in sandbox.agent_server\n"
    )
    return 0


def _listed(asked: Asked, store: Store) -> int:
    """Prints each image with where it stands; how many are absent."""
    names = store.names()
    absent = 0
    for reference in asked.references:
        here = reference.stored_as in names
        absent += not here
        sys.stdout.write(f"{'present' if here else 'absent '} {reference}\n")
    sys.stdout.write(f"{len(asked.references)} images, {absent} of them absent\n")
    return absent


def _fetched(args: argparse.Namespace, asked: Asked, podman: PodmanCli) -> int:
    """How many could not be had."""
    sandbox, recipe = asked.sandbox, None
    with contextlib.ExitStack() as stack:
        if args.verb == "build":
            place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="skyrl-server-")))
            version, target = sandbox.agent_server_version, args.build_target
            server, image = sandbox.agent_server, args.server_image
            recipe = recipe_of(server, version, place, target=target, server_image=image)
        ways = Ways(
            archive=sandbox.image_archive or "",
            mirror=sandbox.image_mirror or "",
            tries=args.tries,
            limit_s=args.limit,
            build=None if recipe is None else recipe.options,
            context="" if recipe is None else recipe.context,
        )
        return _fetch_all(args, asked, podman, ways)


def _fetch_all(args: argparse.Namespace, asked: Asked, podman: PodmanCli, ways: Ways) -> int:
    stop = threading.Event()
    fetcher = Fetcher(podman, ways, wait=stop.wait)
    Store(podman).names()  # a store that is damaged says so once, and not for each image
    failed, began = 0, time.monotonic()
    with _log(args.log) as log:
        for number, found in enumerate(_in_parallel(fetcher, asked.references, args.jobs, podman, stop), start=1):
            failed += not found.ok
            if log is not None:
                log.write(found.to_json(time.time()) + "\n")
                log.flush()
            sys.stderr.write(_progress(found, number, len(asked.references)))
    total = len(asked.references)
    sys.stdout.write(f"{total - failed} of {total} images are here, after {time.monotonic() - began:.1f} s\n")
    return failed


def _in_parallel(
    fetcher: Fetcher, references: Sequence[Reference], jobs: int, podman: PodmanCli, stop: threading.Event
) -> Iterator[Fetched]:
    """Results as they come in. On the way out, whatever runs is ended first."""
    with ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="fetch") as pool:
        open_: set[Future[Fetched]] = {pool.submit(fetcher.fetch, reference) for reference in references}
        try:
            while open_:
                done, open_ = wait(open_, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        finally:
            stop.set()
            for future in open_:
                future.cancel()
            podman.end_all()


def _progress(found: Fetched, number: int, total: int) -> str:
    words = {Step.PRESENT: "was here", Step.LOAD: "loaded", Step.PULL: "pulled", Step.BUILD: "built"}
    said = words[found.step] if found.ok else f"FAILED: {found.detail}"
    return f"[{number}/{total}] {found.image}: {said} ({found.seconds:.1f} s)\n"


class _log:  # noqa: N801 -- used like a function
    """The file to add lines to, or none."""

    def __init__(self, asked: str | None) -> None:
        job = os.environ.get("SKYRL_JOB_DIR")
        self._path = asked or (f"{job}/images.jsonl" if job and os.path.isdir(job) else None)
        self._file: TextIO | None = None

    def __enter__(self) -> TextIO | None:
        if self._path is not None:
            try:
                self._file = open(self._path, "a", encoding="utf-8")
            except OSError as error:
                raise UsageError(f"--log {self._path}: {error.strerror}") from None
        return self._file

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
