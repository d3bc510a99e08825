"""Every known failure can be followed from its id to its file, its check, its cure, its tests and its page."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from skyrl_doctor.catalogue import When, catalogue
from skyrl_doctor.core.check import Check
from skyrl_doctor.core.signature import Part
from skyrl_doctor.docs.__main__ import our_checks, pages, stale_pages
from skyrl_doctor.docs.failures import source_of
from skyrl_doctor.docs.failures import test_of as mirrored_test_of
from skyrl_doctor.found_by import page as page_of
from skyrl_doctor.logs.match.signatures import load_signatures, load_topics
from skyrl_doctor.page import HEADINGS, parse
from support import registry

ROOT = Path(__file__).parent.parent
CHECKS = our_checks()
HOMES = {f"{entry.module.replace('.', '/')}.py": entry for entry in catalogue().entries}
TABLES = {"checks/consequences.py", "checks/refusals.py"}
"""Signatures that belong to no single failure."""
SHARED = {
    "checks/vocabulary.py",
    *(f"checks/{family}/shared.py" for family in ("cfg", "env", "img", "mem", "mod", "pod", "prm")),
}
MARK = re.compile(r"FIX\(([^)\n]*)\)")
CURES = re.compile(r'\bcures="([^"\n]*)"')
SOURCES = ("skyrl_train", "skyrl_doctor", "checks", "contrib")
SUFFIXES = {".py", ".sh", ".sbatch", ".lua", ".j2", ".toml"}


def text_of(path: str) -> str:
    file = ROOT / path
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def sources() -> Iterator[tuple[str, str]]:
    """Path and text of every file that may hold a rule of ours."""
    for top in SOURCES:
        for file in sorted((ROOT / top).rglob("*")):
            if file.suffix in SUFFIXES:
                yield str(file.relative_to(ROOT)), file.read_text(encoding="utf-8")


def test_every_check_loads_and_no_id_is_taken_twice() -> None:
    assert registry().broken == ()


def test_every_failure_has_exactly_one_file() -> None:
    files = {str(file.relative_to(ROOT)) for file in (ROOT / "checks").rglob("*.py") if file.name != "__init__.py"}
    assert sorted(files - TABLES - SHARED) == sorted(HOMES)


def test_a_check_is_in_the_file_of_its_failure() -> None:
    assert [check.id for check in CHECKS if HOMES[source_of(check)].id != check.id] == []


def test_signatures_are_in_the_file_of_their_failure_and_nowhere_else() -> None:
    holders = {path for path, text in sources() if path.endswith(".py") and _holds_signatures(text)}
    assert sorted(holders - set(HOMES) - TABLES) == []
    named = [text for path in HOMES for text in re.findall(r"^(?:SIGNATURES|TOPIC)\b.*", text_of(path), re.MULTILINE)]
    assert {text for text in named if text not in ("SIGNATURES = (", "TOPIC = Signature(")} == set()


def _holds_signatures(text: str) -> bool:
    nodes = list(ast.walk(ast.parse(text)))
    made = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    named = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return "Signature" in made or bool(named & {"SIGNATURES", "TOPIC"})


def test_a_table_holds_nothing_of_a_single_failure() -> None:
    assert {each.id for each in load_signatures() if each.signature.role is Part.CASCADE} == {None}
    ids = set(re.findall(r"[A-Z]{3}[0-9]{3}", "".join(map(text_of, TABLES))))
    assert ids == set()


def test_the_cause_of_a_signature_is_written_once() -> None:
    texts = {each.signature.explain for each in (*load_signatures(), *load_topics())}
    strings = Counter(
        node.value
        for path, text in sources()
        if path.startswith("checks/") and path.endswith(".py")
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    assert {text: strings[text] for text in texts if strings[text] != 1} == {}


def test_ids_and_slugs_stand_in_the_catalogue() -> None:
    entries = {entry.id: entry.slug for entry in catalogue().entries}
    strangers = [f"{check.id} {check.slug}" for check in CHECKS if entries.get(check.id) != check.slug]
    assert strangers == []


def test_file_function_and_slug_are_one_name() -> None:
    wrong = [check.module for check in CHECKS if check.module.rpartition(".")[2].replace("_", "-") != check.slug]
    assert wrong == []


def test_what_a_check_can_see_has_one_and_what_none_can_see_is_found_elsewhere() -> None:
    unseen = [entry for entry in catalogue().entries if entry.id not in {check.id for check in CHECKS}]
    assert [entry.id for entry in unseen if When.PREFLIGHT in entry.when] == []
    in_logs = {each.id for each in load_signatures()}
    assert [entry.id for entry in unseen if When.LOG in entry.when and entry.id not in in_logs] == []
    rules = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "skyrl_doctor/watch/rules").glob("*.py"))
    live = in_logs | set(re.findall(r'"([A-Z]{3}[0-9]{3})\.', rules))
    assert [entry.id for entry in unseen if When.WATCH in entry.when and entry.id not in live] == []
    page = pages(CHECKS)["docs/failures.md"]
    found = re.findall(r"^\| \[([A-Z]{3}[0-9]{3})\].*\| Found by skyrl-doctor", page, re.MULTILINE)
    assert found == [entry.id for entry in unseen]


def test_pages_have_a_summary_and_exactly_the_four_sections() -> None:
    texts = {entry.id: page_of(entry, None) for entry in catalogue().entries}
    assert [wrong for id_, text in texts.items() if (wrong := _page_fault(id_, text))] == []


def _page_fault(id_: str, text: str) -> str:
    page = parse(text)
    if page.headings != HEADINGS:
        return f"{id_}: headings are {page.headings}"
    empty = [heading for heading, body in page.sections if not body.strip()]
    if empty:
        return f"{id_}: nothing under {empty[0]!r}"
    first = text.split("\n", 1)[0]
    if first != page.summary or not first.endswith("."):
        return f"{id_}: expected one line of summary with a full stop, found {page.summary!r}"
    if "```" in text:
        return f"{id_}: samples are indented by four, not fenced"
    return ""


def test_the_mirrored_test_exists_and_names_the_id() -> None:
    wrong = [f"{check.id}: {mirrored_test_of(check)}" for check in CHECKS if not _names(check)]
    assert wrong == []


def _names(check: Check) -> bool:
    return re.search(rf"\b{check.id}\b", text_of(mirrored_test_of(check))) is not None


def test_every_test_of_a_check_has_its_check() -> None:
    files = {str(file.relative_to(ROOT)) for file in (ROOT / "tests/checks").rglob("test_*.py")}
    shared = {f"tests/{path.replace('/shared', '/test_shared')}" for path in SHARED}
    assert sorted(files - {mirrored_test_of(check) for check in CHECKS} - shared) == []


def test_the_fix_is_marked_where_the_check_says_or_is_the_operators() -> None:
    wrong = [f"{check.id}: {check.fix}" for check in CHECKS if not _is_fixed(check)]
    assert wrong == []


def _is_fixed(check: Check) -> bool:
    kind, _, why = check.fix.partition(":")
    if kind == "operator":
        return bool(why.strip())
    return f"FIX({check.id})" in text_of(check.fix)


def test_every_fix_mark_names_a_check() -> None:
    """What no check can see before the job has no check; its mark names the catalogue's entry."""
    unseen = {entry.id for entry in catalogue().entries if When.PREFLIGHT not in entry.when}
    known = {check.id for check in CHECKS} | unseen
    strangers = [f"{path}: FIX({id_})" for path, text in sources() for id_ in MARK.findall(text) if id_ not in known]
    assert strangers == []


def test_every_setting_cures_a_known_failure() -> None:
    known = {entry.id for entry in catalogue().entries}
    found = {id_ for _, text in sources() for id_ in CURES.findall(text)}
    assert found - known == set()


def test_generated_pages_are_current() -> None:
    """`python -m skyrl_doctor.docs` writes them."""
    assert sorted(stale_pages(ROOT, pages(CHECKS))) == []
