"""The table of a sweep, and its details."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.field.doctor import SLOW_S, Opinion
from benchmarks.field.files import File
from benchmarks.field.truth import Truth
from benchmarks.field.verdicts import BY_HAND, FALSE, TRUE, VERSION, WARNED, Judged
from benchmarks.field.words import Words

_HEAD = ("source", "files", "runs", "understood", "refused", "unknown", "ERRORs", TRUE, VERSION, FALSE, BY_HAND)
_HEAD_TOO = ("false passes", "warned", "slow", "crashes", "words =", "words ?", "words !=")


@dataclass(frozen=True)
class Row:
    """One file. A run is a file that starts a training program, or is its configuration."""

    file: File
    opinion: Opinion
    truth: Truth
    errors: tuple[Judged, ...]
    false_pass: str
    words: Words

    @property
    def is_run(self) -> bool:
        return any(launch.is_training for launch in self.truth.launches)

    @property
    def is_understood(self) -> bool:
        """Whether the keys of the run were checked, as those of its own program."""
        ours = self.opinion
        return not (ours.refused or ours.crash or ours.unchecked or self.false_pass.startswith("read as"))


def table(rows: Sequence[Row]) -> str:
    """One line a source, and their sum."""
    sources = list(dict.fromkeys(row.file.source for row in rows))
    lines = [(source, *_counts([row for row in rows if row.file.source == source])) for source in sources]
    lines.append(("all", *_counts(rows)))
    cells = [(*_HEAD, *_HEAD_TOO), *lines]
    widths = [max(len(str(line[at])) for line in cells) for at in range(len(cells[0]))]
    return "".join(
        "  ".join(str(cell).rjust(width) for cell, width in zip(line, widths, strict=True)) + "\n" for line in cells
    )


def _counts(rows: Sequence[Row]) -> Iterator[int]:
    runs = [row for row in rows if row.is_run]
    classes = Counter(error.verdict for row in rows for error in row.errors)
    yield from (
        len(rows),
        len(runs),
        sum(row.is_understood for row in runs),
        sum(bool(r.opinion.refused) for r in runs),
        sum(bool(r.opinion.unchecked) for r in runs),
    )
    yield sum(classes.values())
    yield from (classes[name] for name in (TRUE, VERSION, FALSE, BY_HAND))
    warned = sum(row.false_pass.startswith(WARNED) for row in rows)
    yield sum(bool(row.false_pass) for row in rows) - warned
    yield warned
    yield sum(row.opinion.seconds > SLOW_S for row in rows)
    yield sum(bool(row.opinion.crash) for row in rows)
    yield sum(row.words.equal for row in rows)
    yield sum(row.words.unknown for row in rows)
    yield sum(len(row.words.differences) for row in rows)


def details(rows: Sequence[Row]) -> str:
    """Each error with its class, each false pass, each word that differs, each refusal of a run."""
    return "".join(line + "\n" for row in rows for line in _detail(row))


def _detail(row: Row) -> Iterator[str]:
    name = row.file.id
    for one in row.errors:
        yield f"{one.verdict:8} {name}:{one.error.line or ''} {one.error.id} {one.error.message}"
    if row.false_pass:
        yield f"pass     {name} {row.false_pass}"
    if row.opinion.crash:
        yield f"crash    {name} {row.opinion.crash.strip().splitlines()[-1]}"
    if row.opinion.refused and row.is_run:
        yield f"refused  {name} {row.opinion.refused}"
    if row.opinion.unchecked and row.is_run:
        yield f"unknown  {name} {row.opinion.unchecked}"
    for difference in row.words.differences:
        yield f"word     {name} {difference.program} ours={difference.ours!r} bash={difference.bash!r}"
    if row.is_run and not row.truth.is_known:
        yield f"unasked  {name} {next((one.broken for one in row.truth.refusals if one.broken), '')[-200:]!r}"
