"""The failure catalogue (checks/catalogue.toml): the ids and slugs of all known failures."""

import functools
import pkgutil
import re
import tomllib
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from skyrl_doctor.core.record import record
from skyrl_train.contracts.version import TAG

_ID = re.compile(r"[A-Z]{3}[0-9]{3}")
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_KEYS = {"slug", "when", "core"}
PAGES = f"https://github.com/skyrl-doctor/skyrl-doctor/blob/{TAG or 'main'}/docs/checks"
"""The pages of the installed release; of the newest tree where the installation is of no release."""


class When(StrEnum):
    """When a failure can be detected."""

    PREFLIGHT = "P"
    WATCH = "W"
    LOG = "L"
    CONTRACT = "K"

    @property
    def words(self) -> str:
        return _WORDS[self]


_WORDS = {
    When.PREFLIGHT: "before the job",
    When.WATCH: "during the job",
    When.LOG: "in the job's logs",
    When.CONTRACT: "in a contract test",
}


@record(kw_only=True)
class Entry:
    """One known failure. `core` marks failures that ended a real run of the first users."""

    id: str
    slug: str
    family: str
    when: tuple[When, ...]
    core: bool = False

    @property
    def module(self) -> str:
        """The module that holds all that is known of it, such as checks.gpu.mig_uuid."""
        return f"checks.{self.family.lower()}.{self.slug.replace('-', '_')}"

    @property
    def url(self) -> str:
        """The address of its page."""
        return f"{PAGES}/{self.id}.md"


@record
class Catalogue:
    """Every known failure in the order of the file. `families` are titles by code."""

    families: Mapping[str, str]
    entries: tuple[Entry, ...]

    def find(self, name: str) -> Entry | None:
        """The entry with this id or slug, ignoring case."""
        id_, slug = name.strip().upper(), name.strip().lower()
        return next((entry for entry in self.entries if id_ == entry.id or slug == entry.slug), None)


@functools.cache
def catalogue() -> Catalogue:
    """The catalogue that is installed with the checks."""
    data = pkgutil.get_data("checks", "catalogue.toml")
    if data is None:
        raise FileNotFoundError("checks/catalogue.toml: file not found; install skyrl-doctor again")
    return parse(data.decode("utf-8"))


def parse(text: str) -> Catalogue:
    """Parses the catalogue. Raises ValueError."""
    families: dict[str, str] = {}
    entries: list[Entry] = []
    for code, family in tomllib.loads(text).items():
        families[code] = str(family["title"])
        entries.extend(_entry(id_, code, row) for id_, row in family["failures"].items())
    slugs = [entry.slug for entry in entries]
    twice = sorted({slug for slug in slugs if slugs.count(slug) > 1})
    if twice:
        raise ValueError(f"slug {twice[0]!r} is used twice")
    return Catalogue(families, tuple(entries))


def _entry(id_: str, family: str, row: Mapping[str, Any]) -> Entry:
    if not _ID.fullmatch(id_) or not id_.startswith(family):
        raise ValueError(f"{id_}: expected {family} and three digits")
    if not _SLUG.fullmatch(row["slug"]):
        raise ValueError(f"{id_}: slug {row['slug']!r}: expected lower-case words joined by hyphens")
    if set(row) - _KEYS:
        raise ValueError(f"{id_}: unknown key {min(set(row) - _KEYS)!r}")
    when = tuple(When(letter) for letter in row["when"])
    if not when or len(set(when)) < len(when):
        raise ValueError(f"{id_}: when is {row['when']!r}; expected some of P, W, L and K, each once")
    return Entry(id=id_, slug=row["slug"], family=family, when=when, core=row.get("core", False))


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most similar to a mistyped one."""
    import difflib  # only an unknown name needs it

    by_case = {text.lower(): text for text in known}
    close = difflib.get_close_matches(name.strip().lower(), by_case, n=1)
    return by_case[close[0]] if close else None
