"""Collects what explains a job into a directory: configuration, results, events, logs, and summaries of its rollouts.

Every text is redacted before it is written. Nothing is copied but files of known kinds, up to a size.
"""

import contextlib
import dataclasses
import itertools
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from skyrl_doctor.machine.redact import Redactor, secret_spans, secrets_of
from skyrl_doctor.watch.follow.files import listing
from skyrl_train.contracts import bounded, files
from skyrl_train.contracts.job_files import JOB_SUMMARIES, KEY
from skyrl_train.contracts.rollout_summaries import directory_of, files_in, read, step_of

CONFIGURATIONS = (".toml", ".conf", ".sh", ".yaml")
KINDS = (".toml", ".conf", ".sh", ".yaml", ".json", ".jsonl", ".md", ".prom")
FILE_BYTES = 2 << 20
LOG_BYTES = 4 << 20
HEAD_BYTES = 1 << 20
"""Of a longer log the begin of this size is kept, and the end."""
MOST_ROLLOUTS = 20_000
TARGETS = "target"
"""The directory of the configuration in a recording."""
LEFT_OUT = "left_out.md"
_WORD = re.compile(r"[a-z]{1,11}")
"""A secret that is a plain word is hidden only in its place: logs hold the word with its meaning."""
MODE = 0o600


def redactor_of(job_dir: str, environ: Mapping[str, str]) -> Redactor:
    """Knows the secrets of the environment; of a job directory also the runtime's key and those of its configuration."""
    known = secrets_of(environ)
    with contextlib.suppress(OSError):
        known.append(bounded.read_text(os.path.join(job_dir, KEY), errors="replace").strip())
    with contextlib.suppress(OSError):
        known += _configured_secrets(job_dir)
    return Redactor(known)


def _configured_secrets(job_dir: str) -> list[str]:
    """The secrets that files of the configuration name, so that they are known in logs, where they stand without a name."""
    found = list[str]()
    for name in sorted(os.listdir(job_dir)):
        if name.endswith(CONFIGURATIONS):
            with contextlib.suppress(OSError):
                text = bounded.read_text(os.path.join(job_dir, name), most_bytes=FILE_BYTES, errors="replace")
                found += (text[start:end] for start, end in secret_spans(text))
    return [secret for secret in found if not _WORD.fullmatch(secret)]


@dataclasses.dataclass
class Bundle:
    """A bundle that is being filled. `left` are the bytes that it may still take."""

    directory: str
    redact: Callable[[str], str]
    left: int
    written: int = 0
    left_out: list[str] = dataclasses.field(default_factory=list)

    def add(self, name: str, text: str) -> None:
        """Writes a text without its secrets, or notes that there is no room for it."""
        data = self.redact(text)
        size = len(data.encode("utf-8", "replace"))
        if size > self.left:
            self.left_out.append(f"{name}: {size} bytes, more than the limit allows")
            return
        path = os.path.join(self.directory, name)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        files.write_whole(path, data.encode("utf-8", "replace").decode(), mode=MODE, durable=False)
        self.left -= size
        self.written += 1


def keep_targets(targets: Sequence[str], directory: str, environ: Mapping[str, str]) -> tuple[int, ...]:
    """Copies the configuration that a recording was made with, without its secrets; the numbers of targets left out.

    OSError if it cannot write.
    """
    bundle = Bundle(os.path.join(directory, TARGETS), Redactor.of(environ), left=len(targets) * FILE_BYTES)
    for number, path in enumerate(targets):
        if os.path.isfile(path):
            text = bounded.read_text(path, most_bytes=FILE_BYTES, errors="replace")
            bundle.add(os.path.join(str(number), os.path.basename(path)), text)
    return tuple(number for number, path in enumerate(targets, 1) if not os.path.isfile(path))


def targets_in(directory: str) -> tuple[str, ...]:
    """The configuration that a recording was made with."""
    kept = os.path.join(directory, TARGETS)
    numbers = sorted(filter(str.isdecimal, os.listdir(kept)), key=int) if os.path.isdir(kept) else []
    folders = [os.path.join(kept, number) for number in numbers]
    return tuple(os.path.join(folder, name) for folder in folders for name in sorted(os.listdir(folder)))


def collect(job_dir: str, directory: str, redact: Callable[[str], str], *, most_bytes: int) -> Bundle:
    """Fills a new directory; the small files come first, then rollouts, then the newest logs. OSError if it cannot write."""
    bundle = Bundle(directory, redact, most_bytes)
    os.makedirs(directory, mode=0o700)
    for name, text in _small(job_dir, bundle):
        bundle.add(name, text)
    summaries = "".join(_summaries(job_dir, bundle))
    if summaries:
        bundle.add(JOB_SUMMARIES, summaries)
    for name, text in _logs(job_dir, bundle):
        bundle.add(name, text)
    if bundle.left_out:
        bundle.left += 1 << 16
        bundle.add(LEFT_OUT, "".join(f"- {line}\n" for line in bundle.left_out[:500]))
    return bundle


def _small(job_dir: str, bundle: Bundle) -> Iterator[tuple[str, str]]:
    for name in sorted(os.listdir(job_dir)):
        path = os.path.join(job_dir, name)
        if name.endswith(KINDS) and os.path.isfile(path):
            text = _text(path, name, bundle)
            if text is not None:
                yield name, text


def _text(path: str, name: str, bundle: Bundle) -> str | None:
    try:
        return bounded.read_text(path, most_bytes=FILE_BYTES, errors="replace")
    except OSError as error:
        bundle.left_out.append(f"{name}: {error.strerror}")
        return None


def _logs(job_dir: str, bundle: Bundle) -> Iterator[tuple[str, str]]:
    """The logs below the job directory, those that changed last first."""
    logs = [(os.path.relpath(seen.path, job_dir), seen.path) for seen in listing([job_dir]).files]
    for name, path in sorted(logs, key=lambda log: -_changed_at(log[1])):
        if name.endswith(KINDS):
            continue
        try:
            yield name, _log(path)
        except OSError as error:
            bundle.left_out.append(f"{name}: {error.strerror}")


def _log(path: str) -> str:
    """The log, or its begin and its end in whole lines."""
    with bounded.open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size <= LOG_BYTES:
            return file.read(LOG_BYTES).decode("utf-8", "replace")
        head = file.read(HEAD_BYTES)
    tail = bounded.read_end(path, start=HEAD_BYTES, most_bytes=LOG_BYTES - HEAD_BYTES)
    head, tail = head[: head.rfind(b"\n") + 1], tail[tail.find(b"\n") + 1 :]
    notice = f"[… {size - len(head) - len(tail)} bytes left out …]\n"
    return head.decode("utf-8", "replace") + notice + tail.decode("utf-8", "replace")


def _summaries(job_dir: str, bundle: Bundle) -> Iterator[str]:
    """A line for each rollout, without its texts."""
    try:
        paths = files_in(directory_of(job_dir))
        every = ((step_of(path), one) for path in paths for _, one in read(path) if one is not None)
        for step, one in itertools.islice(every, MOST_ROLLOUTS):
            yield json.dumps({"step": step, **dataclasses.asdict(one)}) + "\n"
        if next(every, None) is not None:
            bundle.left_out.append(f"rollouts after the first {MOST_ROLLOUTS}")
    except FileNotFoundError:
        return
    except OSError as error:
        bundle.left_out.append(f"rollouts: {error.strerror}")


def _changed_at(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
