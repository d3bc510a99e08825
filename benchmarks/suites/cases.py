"""What a judge gives: cases, each of which passes, fails, or differs on purpose."""

import importlib.metadata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Case:
    """One question to us, with the judge's answer. `documented`: the page and the sentence of a difference on purpose."""

    name: str
    ours: object
    expected: object
    documented: str = ""

    @property
    def passed(self) -> bool:
        return self.ours == self.expected


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """`checkout`: the name of the repository that the cases are read from; empty if a package has them or we wrote them."""

    name: str
    of: str
    package: str = ""
    checkout: str = ""
    before: str = ""
    """The figure of 21 November 2026."""
    cases: Callable[[Path], Iterator[Case]]

    @property
    def version(self) -> str:
        try:
            return importlib.metadata.version(self.package) if self.package else ""
        except importlib.metadata.PackageNotFoundError:
            return ""


@dataclass(frozen=True, slots=True)
class Row:
    """The counts of a judge."""

    judge: Judge
    version: str
    cases: int
    passed: int
    different: tuple[Case, ...]
    failed: tuple[Case, ...]


def row_of(judge: Judge, checkout: Path, version: str) -> Row:
    """Asks a judge all of its cases."""
    cases = [*judge.cases(checkout)]
    wrong = [case for case in cases if not case.passed]
    different = tuple(case for case in wrong if _is_documented(case))
    failed = tuple(case for case in wrong if not _is_documented(case))
    return Row(judge, version, len(cases), len(cases) - len(wrong), different, failed)


def _is_documented(case: Case) -> bool:
    """Whether the page has the sentence."""
    page, _, sentence = case.documented.partition(": ")
    return bool(sentence) and sentence in (ROOT / page).read_text(encoding="utf-8")
