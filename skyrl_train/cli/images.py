"""skyrl-train images: lists the images that a run needs, and pulls or builds the missing ones ahead of the job.

It uses the container store that the environment names. In a job, use the job's own store:
eval "$(skyrl-doctor env --shell)" && skyrl-train images pull run.toml
"""

import argparse
import contextlib
import os
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import TextIO

from skyrl_train.cli.images_target import Asked, asked_of, with_options
from skyrl_train.config.sections.sandbox import SandboxSection
from skyrl_train.contracts.amount import amount
from skyrl_train.contracts.errors import TrainError, UsageError
from skyrl_train.contracts.files import open_to_append
from skyrl_train.contracts.sandbox.agent_server import BUILD_TARGET, TARGET_OF
from skyrl_train.contracts.sandbox.references import Reference
from skyrl_train.contracts.screen import print_line, print_note
from skyrl_train.sandbox.fetch import Fetched, Fetcher, ImageSources, Step, Store
from skyrl_train.sandbox.podman_cli import PodmanCli
from skyrl_train.sandbox.recipe import recipe_of
from skyrl_train.sandbox.server_bundle import make_bundle
from skyrl_train.sandbox.server_source import INDEX, source_of

VERBS = ("list", "check", "pull", "build", "server")
NOT_ALL = 1
_MOST_BAD = 5


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "verb",
        choices=VERBS,
        metavar="ACTION",
        help="list, check, pull, build or server: list and check only read the store; pull and build get the missing images; server makes a directory",
    )
    parser.add_argument(
        "target",
        metavar="TARGET",
        help="a run.toml or a data set (.jsonl, .parquet); for server: the directory to make",
    )
    parser.add_argument(
        "--archive", metavar="DIR", help="load archives from DIR, named after the image, instead of pulling"
    )
    parser.add_argument("--mirror", metavar="HOST[/PATH]", help="pull from this mirror instead of the registry")
    parser.add_argument("--prefix", metavar="P", help="prefix for names without a registry (default: docker.io/)")
    parser.add_argument("--jobs", type=_count, default=2, metavar="N", help="number of images at a time (default: 2)")
    parser.add_argument(
        "--tries", type=_count, default=3, metavar="N", help="number of tries for each image (default: 3)"
    )
    parser.add_argument(
        "--limit", type=_seconds, default=1800.0, metavar="S", help="time limit of one try in seconds (default: 1800)"
    )
    parser.add_argument(
        "--log", metavar="F", help="append a JSON line for each image to F (default: $SKYRL_JOB_DIR/images.jsonl)"
    )
    parser.add_argument(
        "--sdk-version", metavar="V", help="version of the agent server (default: sandbox.agent_server_version)"
    )
    parser.add_argument(
        "--agent-server",
        metavar="WHAT",
        help="for build and server: an environment, wheels, a program or 'index' (default: sandbox.agent_server)",
    )
    targets = [name for names in TARGET_OF.values() for name in names]
    parser.add_argument(
        "--build-target",
        choices=targets,
        default=BUILD_TARGET,
        help=f"for build: the build target (default: {BUILD_TARGET})",
    )
    parser.add_argument("--server-image", metavar="IMAGE", help="for build: the image that holds the agent server")


def run(args: argparse.Namespace) -> int:
    if args.verb == "server":
        return _server(args)
    asked = asked_of(args)
    for line in (*asked.bad[:_MOST_BAD], *asked.unread[:_MOST_BAD]):
        print_note(f"skyrl-train images: {line}")
    if asked.unread:
        print_note(f"skyrl-train images: skipped {amount(len(asked.unread), 'row')} that cannot be read")
    if asked.without:
        print_note(f"skyrl-train images: {amount(asked.without, 'row')} without an image")
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
        print_note(f"skyrl-train images: {error}")
        return NOT_ALL
    finally:
        podman.end_all()


def _count(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 64:
        raise argparse.ArgumentTypeError(f"{text}: expected 1 to 64")
    return value


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value <= 86400:
        raise argparse.ArgumentTypeError(f"{text}: expected seconds, at most a day (86400)")
    return value


def _server(args: argparse.Namespace) -> int:
    """Makes the directory that `sandbox.agent_server` may name on any node. Only "index" needs the network."""
    sandbox = with_options(args, SandboxSection())
    source = source_of(sandbox.agent_server or INDEX, version=sandbox.agent_server_version)
    place = Path(os.path.abspath(args.target))
    if place.exists():
        raise UsageError(f"{place} exists already; name a new directory")
    try:
        bundle = make_bundle(source, place.parent, whole=True, name=place.name)
    except OSError as error:
        raise UsageError(f"{place}: {error.strerror or error}") from None
    print_line(
        f"openhands-agent-server {bundle.version} is in {bundle.directory}; set sandbox.agent_server to that directory"
    )
    return 0


def _listed(asked: Asked, store: Store) -> int:
    """Prints each image as present or absent; the number of absent ones."""
    names = store.names()
    absent = 0
    for reference in asked.references:
        here = reference.stored_as in names
        absent += not here
        print_line(f"{'present' if here else 'absent '} {reference}")
    print_line(f"{amount(len(asked.references), 'image')}, {absent} absent")
    return absent


def _fetched(args: argparse.Namespace, asked: Asked, podman: PodmanCli) -> int:
    """Pulls or builds the missing images; the number that failed."""
    sandbox, recipe = asked.sandbox, None
    with contextlib.ExitStack() as stack:
        if args.verb == "build":
            place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="skyrl-server-")))
            version, target = sandbox.agent_server_version, args.build_target
            server, image = sandbox.agent_server, args.server_image
            recipe = recipe_of(server, version, place, target=target, server_image=image)
        ways = ImageSources(
            archive=sandbox.image_archive or "",
            mirror=sandbox.image_mirror or "",
            tries=args.tries,
            limit_s=args.limit,
            build=None if recipe is None else recipe.options,
            context="" if recipe is None else recipe.context,
        )
        return _fetch_all(args, asked, podman, ways)


def _fetch_all(args: argparse.Namespace, asked: Asked, podman: PodmanCli, ways: ImageSources) -> int:
    stop = threading.Event()
    fetcher = Fetcher(podman, ways, wait=stop.wait)
    Store(podman).names()  # a damaged store fails once here, not once for each image
    failed, began = 0, time.monotonic()
    with _Log(args.log) as log:
        for number, found in enumerate(_in_parallel(fetcher, asked.references, args.jobs, podman, stop), start=1):
            failed += not found.ok
            if log is not None:
                log.write(found.to_json(time.time()) + "\n")
                log.flush()
            print_note(_progress(found, number, len(asked.references)))
    total = len(asked.references)
    print_line(f"{total - failed} of {total} images present after {time.monotonic() - began:.1f} s")
    return failed


def _in_parallel(
    fetcher: Fetcher, references: Sequence[Reference], jobs: int, podman: PodmanCli, stop: threading.Event
) -> Iterator[Fetched]:
    """Yields results as they arrive. When the caller leaves, running fetches are ended first."""
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
    words = {Step.PRESENT: "already present", Step.LOAD: "loaded", Step.PULL: "pulled", Step.BUILD: "built"}
    outcome = words[found.step] if found.ok else f"FAILED: {found.detail}"
    return f"[{number}/{total}] {found.image}: {outcome} ({found.seconds:.1f} s)"


class _Log:
    """The log file to append to, or None if there is none."""

    def __init__(self, asked: str | None) -> None:
        job = os.environ.get("SKYRL_JOB_DIR")
        self._path = asked or (f"{job}/images.jsonl" if job and os.path.isdir(job) else None)
        self._file: TextIO | None = None

    def __enter__(self) -> TextIO | None:
        if self._path is not None:
            try:
                self._file = open_to_append(self._path)
            except OSError as error:
                raise UsageError(f"--log {self._path}: {error.strerror}") from None
        return self._file

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
