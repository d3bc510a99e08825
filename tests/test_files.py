"""Which code opens files: readers and writers go through skyrl_train.contracts.{bounded,files} or are named here."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OTHER_PROGRAMS = (
    "skyrl_doctor/children/",  # a process of their own, with limits of time and memory
    "skyrl_train/agent/inside/",  # inside the sandbox
    "skyrl_train/rewards/inside/",
    "skyrl_train/sandbox/sandboxd/",
    "skyrl_train/sandbox/runtime/podman/namespaces.py",  # a child of the runtime
    "skyrl_train/sandbox/client/canary.py",  # a child of the doctor
    "skyrl_train/rl/merge_child.py",
    "skyrl_train/rl/ray_ready.py",
)
READERS = {
    "skyrl_train/rl/forks/child.py": "/dev/null",
    "skyrl_train/sandbox/runtime/shares.py": "/proc",
    "skyrl_doctor/__main__.py": "/proc",
    "skyrl_doctor/cli/edits.py": "bounded by itself: it also refuses links",
    "skyrl_doctor/core/entry_points.py": "installed packages",
    "skyrl_doctor/docs/__main__.py": "our own pages",
    "skyrl_doctor/docs/pictures.py": "our own layers",
    "skyrl_doctor/html/page.py": "our own style",
    "skyrl_doctor/logs/match/engine_cache.py": "our own cache, with a digest",
    "skyrl_doctor/logs/match/engine_hyperscan.py": "our own source",
    "skyrl_doctor/logs/read/contents.py": "the reader of logs, bounded by itself: any size, in blocks",
    "skyrl_doctor/machine/http.py": "a key, bounded by itself",
    "skyrl_doctor/machine/local.py": "the machine: each query has its limit",
    "skyrl_doctor/plan/dialects/schema.py": "our own data",
    "skyrl_doctor/plan/dialects/verl/releases.py": "our own data",
    "skyrl_doctor/plan/names/prime_rl.py": "our own data",
    "skyrl_doctor/plan/schemas/dated.py": "our own data",
    "skyrl_doctor/watch/follow/ray.py": "/proc",
    "skyrl_doctor/watch/follow/tail.py": "follows logs, a block at a time",
    "skyrl_train/checkpoints/finish.py": "flushes files to the disk; reads nothing",
    "skyrl_train/checkpoints/store.py": "flushes a directory to the disk; reads nothing",
    "skyrl_train/launch/leftovers.py": "/proc",
    "skyrl_train/launch/tree_removal.py": "holds directories by descriptor; reads nothing",
    "skyrl_train/node/advisories.py": "our own data",
    "skyrl_train/procfs.py": "/proc",
    "skyrl_train/sandbox/client/transfer.py": "streams a file of this program",
    "skyrl_train/sandbox/recipe.py": "our own program",
    "skyrl_train/sandbox/runtime/build_form.py": "the body of a request, bounded when it was received",
    "skyrl_train/sandbox/runtime/context_archive.py": "the same body, its members bounded, by descriptors of directories",
    "skyrl_train/sandbox/runtime/exceeded_limits.py": "/proc and control groups",
    "skyrl_train/sandbox/runtime/podman/engine.py": "/proc",
    "skyrl_train/sandbox/runtime/podman/namespace_client.py": "our own source",
    "skyrl_train/sandbox/runtime/podman/service.py": "Podman's log in the runtime's own directory",
    "skyrl_train/sandbox/server_bundle.py": "installed packages",
    "skyrl_train/sandbox/server_source.py": "installed packages",
    "skyrl_train/sandbox/sandboxd/bundle.py": "our own source",
    "skyrl_train/view/server.py": "our own pages",
    "skyrl_train/contracts/bounded.py": "the reader",
    "skyrl_train/contracts/files.py": "holds a directory; reads nothing",
}
WRITERS = {
    "skyrl_doctor/cli/session.py": "a device or FIFO that the user named",
    "skyrl_doctor/docs/__main__.py": "our own pages",
    "skyrl_doctor/logs/match/engine_cache.py": "new files with random names, in a directory that must be the user's own",
    "skyrl_doctor/plan/dialects/verl/collect_releases.py": "our own data",
    "skyrl_doctor/watch/setup.py": "a lock, which is never a link",
    "skyrl_doctor/watch/sink/events.py": "appends, never through a link",
    "skyrl_doctor/watch/sink/joblog.py": "appends to Slurm's log",
    "skyrl_train/agent/journal.py": "appends, never through a link",
    "skyrl_train/agent/sandboxes/bundle.py": "a temporary directory",
    "skyrl_train/agent/sandboxes/podman.py": "a temporary directory",
    "skyrl_train/cli/data_convert.py": "a new file, and the temporary file of `replaced`",
    "skyrl_train/cli/data_oracle.py": "the temporary file of `replaced`",
    "skyrl_train/contracts/files.py": "the writer",
    "skyrl_train/contracts/streams.py": "/dev/null",
    "skyrl_train/demo/seed.py": "a temporary directory",
    "skyrl_train/launch/local.py": "logs in the job directory",
    "skyrl_train/launch/sidecar.py": "logs in the job directory",
    "skyrl_train/sandbox/client/transfer.py": "a temporary directory",
    "skyrl_train/sandbox/fetch.py": "a temporary directory",
    "skyrl_train/sandbox/runtime/build_form.py": "the directory of one build",
    "skyrl_train/sandbox/runtime/context_archive.py": "the directory of one build, by descriptors that follow no link",
    "skyrl_train/sandbox/runtime/builds.py": "the directory of one build",
    "skyrl_train/sandbox/runtime/database.py": "the runtime's own directory, never through a link",
    "skyrl_train/sandbox/runtime/podman/service.py": "the runtime's own directory",
    "skyrl_train/sandbox/runtime/server_lock.py": "the runtime's own directory, never through a link",
    "skyrl_train/sandbox/server_bundle.py": "a temporary directory",
    "skyrl_train/view/index.py": "a lock in the user's cache, which is never a link",
    "skyrl_train/tasks/sinks.py": "the temporary file of `replaced`",
}
OPENERS = ("open", "write_text", "write_bytes", "read_text", "read_bytes")
"""The names under which a file is opened: only those calls are looked at, since unparsing all of them takes seconds."""
OURS = ("bounded.", "machine.", "self._machine.", "self.read_bytes", "reader.")


def uses(tree: ast.AST) -> Iterator[str]:
    """ "read" or "write" for each place that opens a file by itself."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        last = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if last not in OPENERS:
            continue
        called, text = ast.unparse(node.func), ast.unparse(node)
        if called.startswith(OURS) or "LocalMachine(" in called:
            continue
        if called == "os.open":
            yield "write" if "O_WRONLY" in text or "O_RDWR" in text or "O_CREAT" in text or "flags" in text else "read"
        elif called in ("open", "gzip.open", "Path.open") or (last == "open" and "encoding=" in text):
            if node.args and ast.unparse(node.args[0]) in ("descriptor", "handle"):
                continue  # its os.open counts
            modes = [
                one
                for one in (*node.args, *(key.value for key in node.keywords if key.arg == "mode"))
                if isinstance(one, ast.Constant)
            ]
            yield (
                "write"
                if any(
                    isinstance(one.value, str) and set(one.value) & set("wax+") and len(one.value) < 4 for one in modes
                )
                else "read"
            )
        elif last in ("write_text", "write_bytes"):
            yield "write"
        elif last in ("read_text", "read_bytes"):
            yield "read"


def found(kind: str) -> set[str]:
    return {
        name
        for package in ("skyrl_doctor", "skyrl_train", "checks")
        for path in sorted((ROOT / package).rglob("*.py"))
        if not (name := path.relative_to(ROOT).as_posix()).startswith(OTHER_PROGRAMS)
        and kind in uses(ast.parse(path.read_text(encoding="utf-8")))
    }


def test_no_reader_goes_around_the_bounded_one() -> None:
    assert sorted(found("read") - READERS.keys()) == []


def test_no_writer_goes_around_the_one_for_planted_links() -> None:
    assert sorted(found("write") - WRITERS.keys()) == []


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("open(path)", "read"),
        ('open(path, "rb")', "read"),
        ("path.read_text()", "read"),
        ('path.open(encoding="utf-8")', "read"),
        ("os.open(path, os.O_RDONLY)", "read"),
        ('open(path, "w")', "write"),
        ('open(path, mode="a")', "write"),
        ('path.open("x", encoding="utf-8")', "write"),
        ("path.write_text(text)", "write"),
        ("os.open(path, os.O_WRONLY | os.O_CREAT)", "write"),
        ("os.open(path, flags)", "write"),
    ],
)
def test_each_way_around_is_found(source: str, kind: str) -> None:
    assert list(uses(ast.parse(source))) == [kind]
