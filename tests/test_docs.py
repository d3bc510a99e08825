"""The pages written by hand say what is so: commands, options, ids, files and dependencies that they name are there."""

import argparse
import functools
import importlib
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from skyrl_doctor.catalogue import catalogue
from skyrl_doctor.cli.app import COMMANDS, SKYRL_DOCTOR, dispatch
from support import MACHINES

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
GENERATED = {"failures.md", "checks"}
PAGES = sorted(
    [file for file in DOCS.rglob("*.md") if file.relative_to(DOCS).parts[0] not in GENERATED]
    + [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
)
OPTION = re.compile(r"--[a-z][a-z-]+")


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


@functools.cache
def options(command: str) -> frozenset[str]:
    parser = argparse.ArgumentParser()
    module = SKYRL_DOCTOR.modules.get(command, command)
    importlib.import_module(f"skyrl_doctor.cli.{module}").arguments(parser)
    return frozenset(option for action in parser._actions for option in action.option_strings)


def calls(text: str) -> Iterator[list[str]]:
    """The words after `skyrl-doctor` wherever a page shows a call of it, up to a comment or the command of a gate."""
    for line in re.findall(r"skyrl-doctor ([a-z][^\n`]*)", text):
        words = shlex.split(line.partition(" #")[0].replace("'", "").replace('"', ""))
        if words and words[0] in COMMANDS:
            yield words[: words.index("--")] if "--" in words else words


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_calls_have_only_options_that_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    unknown = [
        f"{words[0]} {option}"
        for words in calls(text)
        for option in OPTION.findall(" ".join(words))
        if option not in options(words[0])
    ]
    assert unknown == []


def test_the_page_that_a_finding_links_to_is_in_the_repository() -> None:
    source = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Source"]
    linked = [entry.url.removeprefix(f"{source}/blob/main/") for entry in catalogue().entries]
    assert [path for path in linked if not (ROOT / path).is_file()] == []


def test_using_it_shows_every_command() -> None:
    shown = {words[0] for words in calls((DOCS / "using.md").read_text(encoding="utf-8"))}
    assert set(COMMANDS) - shown == set()


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_ids_are_known(page: Path) -> None:
    known = {entry.id for entry in catalogue().entries}
    families = {entry.family for entry in catalogue().entries}
    found = re.findall(r"\b([A-Z]{3})([0-9]{3})\b", page.read_text(encoding="utf-8"))
    assert [family + number for family, number in found if family in families and family + number not in known] == []


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_files_that_are_named_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    paths = re.findall(r"`((?:skyrl_doctor|checks|skyrl_train|tests|docs|contrib|requirements)/[\w./-]+\.\w+)`", text)
    assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    local = [link for link in links if "://" not in link]
    assert [link for link in local if not (page.parent / link).exists()] == []


def test_every_page_is_in_the_navigation() -> None:
    nav = set(
        re.findall(r"^ +- (?:[^:\n]+: )?(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    )
    pages = {str(page.relative_to(DOCS)) for page in PAGES if page.is_relative_to(DOCS)}
    assert nav == pages | {"failures.md"}


def test_dependencies_have_their_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.split(r"[^\w-]", line)[0] for line in project["dependencies"]}
    page = (DOCS / "adr/0003-dependencies.md").read_text(encoding="utf-8")
    rows = {name for row in re.findall(r"^\| (`.*?) \|", page, re.MULTILINE) for name in re.findall(r"`([^`]+)`", row)}
    assert rows == names


def test_decisions_have_one_form() -> None:
    for number, page in enumerate(sorted((DOCS / "adr").glob("*.md")), 1):
        text = page.read_text(encoding="utf-8")
        assert page.name.startswith(f"{number:04}-")
        assert text.startswith(f"# {number}. ")
        assert re.findall(r"^## (.+)$", text, re.MULTILINE) == ["Context", "Decision", "Consequence"]


def test_the_finding_on_the_first_page_is_a_real_one(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["preflight", "-v", "--from", str(MACHINES / "mig_one_slice"), "--role", "gpu", "--select", "GPU001"]
    assert dispatch([*asked, "--format", "text"]) == 1
    shown = re.findall(
        r"^```text\n(.*?)^```$", (DOCS / "index.md").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    assert shown == [capsys.readouterr().out.split("\n\n")[1] + "\n"]
