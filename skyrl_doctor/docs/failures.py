"""The pages of the known failures and their catalogue, as Markdown."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePosixPath

from skyrl_doctor.catalogue import Entry, When, catalogue
from skyrl_doctor.core.check import Check
from skyrl_doctor.core.record import record
from skyrl_doctor.found_by import finders, found_by, page
from skyrl_doctor.logs.match.signatures import load_signatures
from skyrl_doctor.page import parse
from skyrl_doctor.symptoms import SYMPTOMS

MOST_SAMPLES = 4
MOST_RELATED = 5
SAMPLE_LETTERS = 300
_CODE = re.compile(r"(`[^`\n]*`)")
_ID = re.compile(r"\b[A-Z]{3}\d{3}\b")


@record(kw_only=True)
class Around:
    """What a page says besides the failure's own text: words of users, lines of logs, settings, related failures, the pages
    before and after."""

    symptoms: tuple[str, ...] = ()
    samples: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    before: str = ""
    after: str = ""


def failure_pages(built: Mapping[str, Check], read_by: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The pages of all failures, by path below the root."""
    entries = catalogue().entries
    texts = {entry.id: page(entry, built.get(entry.id)) for entry in entries}
    settings = {id_: tuple(key for key, ids in read_by.items() if id_ in ids) for id_ in texts}
    related = _related(texts, settings, built)
    samples = _samples(texts)
    after = {one.id: other.id for one, other in pairwise(entries)}
    before = {other: one for one, other in after.items()}
    made = {}
    for entry in entries:
        id_ = entry.id
        around = Around(
            symptoms=SYMPTOMS.get(id_, ()),
            samples=samples[id_],
            settings=settings[id_],
            related=related[id_],
            before=before.get(id_, ""),
            after=after.get(id_, ""),
        )
        made[f"docs/checks/{id_}.md"] = f"{failure_page(entry, built.get(id_), around)}\n"
    return made


def failure_page(entry: Entry, check: Check | None, around: Around | None = None) -> str:
    """The page of one failure."""
    parsed = parse(page(entry, check))
    parts = [f"# {entry.id} {entry.slug}", _safe(parsed.summary)]
    for heading, body in parsed.sections:
        parts += [f"## {heading}", _safe(body)]
    rows = [f"| {name} | {value} |" for name, value in _facts(entry, check)]
    facts = "\n".join(["| | |", "|---|---|", *rows])
    return "\n\n".join([*parts, facts] if around is None else [*parts, *_around(entry, around, facts)])


def _around(entry: Entry, around: Around, facts: str) -> Iterator[str]:
    known = {one.id: one for one in catalogue().entries}
    if around.symptoms:
        yield "## Symptoms"
        yield f"Users describe it with these words: {'; '.join(around.symptoms)}."
    if around.samples:
        yield "## Log lines"
        yield "A log with a line like one of these has this failure:"
        yield "\n".join(f"    {line}" for line in around.samples)
    yield "## Facts"
    yield facts
    yield "## Related"
    lines = [f"- {_link(known[id_])}: {_sentence(known[id_], None)}" for id_ in around.related]
    if around.settings:
        links = (f"[`{key}`](../run-config.md#{key.partition('.')[0]})" for key in around.settings)
        lines.append(f"- Settings: {', '.join(links)}")
    title = catalogue().families[entry.family]
    lines.append(f"- All failures of [{entry.family}: {title}](../failures.md#{_anchor(entry.family, title)})")
    yield "\n".join(lines)
    sides = (("Previous", around.before), ("Next", around.after))
    yield " · ".join(f"{word}: {_link(known[id_])}" for word, id_ in sides if id_)


def _link(entry: Entry) -> str:
    return f"[{entry.id} {entry.slug}]({entry.id}.md)"


def _samples(texts: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Some lines of logs that the signatures of a failure recognise, without those of its example."""
    found: dict[str, list[str]] = {id_: [] for id_ in texts}
    for one in load_signatures():
        if one.id is None:
            continue
        line = one.signature.sample.strip().split("\n")[-1][:SAMPLE_LETTERS].rstrip()
        if one.id in found and line and line not in texts[one.id] and line not in found[one.id] and one.id not in line:
            found[one.id].append(line)
    return {id_: tuple(lines[:MOST_SAMPLES]) for id_, lines in found.items()}


def _related(
    texts: Mapping[str, str], settings: Mapping[str, Sequence[str]], built: Mapping[str, Check]
) -> dict[str, tuple[str, ...]]:
    """The failures that a page names or that name it, then those that share rare settings and facts with it."""
    named = {id_: set(_ID.findall(text)) & set(texts) - {id_} for id_, text in texts.items()}
    facts = {id_: {need.kind.__qualname__ for need in check.needs} - {"Plan"} for id_, check in built.items()}
    shares = {id_: {*settings[id_], *facts.get(id_, ())} for id_ in texts}
    users: dict[str, set[str]] = {}
    for id_, shared in shares.items():
        for one in shared:
            users.setdefault(one, set()).add(id_)
    found = {}
    for id_ in texts:
        weights = {other: 10.0 for other in texts if other in named[id_] or id_ in named[other]}
        for one in shares[id_]:
            for other in users[one] - {id_}:
                weights[other] = weights.get(other, 0) + 1 / len(users[one]) / len(shares[other])
        found[id_] = tuple(sorted(weights, key=lambda other: (-weights[other], other))[:MOST_RELATED])
    return found


def _facts(entry: Entry, check: Check | None) -> Iterator[tuple[str, str]]:
    yield "Appears", _when(entry)
    if check is None:
        yield "Found by", ", ".join(f"`{finder}`" for finder in finders(entry))
        yield "Described in", f"`{_path(entry.module)}`"
        return
    yield "Roles", ", ".join(sorted(check.roles))
    yield "Check", f"`{source_of(check)}`"
    yield "Fixed by", fix_of(check)
    yield "Tests", f"`{test_of(check)}`"


def failures(built: Mapping[str, Check]) -> Iterator[str]:
    """The lines of docs/failures.md."""
    known = catalogue()
    yield "# Known failures"
    yield ""
    yield f"{sum(entry.id in built for entry in known.entries)} of {len(known.entries)} known failures have a check that finds them before a job."
    yield "Failures in **bold** ended real runs of the first users. Each page has the reason, the fix, the check and its tests."
    yield "`skyrl-doctor explain ID` prints it; `skyrl-doctor list WORD` searches."
    yield ""
    yield '<div id="filter"></div>'
    for code, title in known.families.items():
        yield from ("", f"## {code}: {title}", "", "| Id | Failure | What goes wrong | When | How it is found |")
        yield "|---|---|---|---|---|"
        yield from (_row(entry, built.get(entry.id)) for entry in known.entries if entry.family == code)


def source_of(check: Check) -> str:
    return _path(check.module)


def test_of(check: Check) -> str:
    """The mirrored test file: checks/gpu/x.py -> tests/checks/gpu/test_x.py."""
    source = PurePosixPath(source_of(check))
    return str("tests" / source.with_name(f"test_{source.name}"))


def fix_of(check: Check) -> str:
    """The file that fixes the failure, or what the operator does."""
    kind, _, why = check.fix.partition(":")
    return f"the operator: {_safe(why.strip())}" if kind == "operator" else f"`{check.fix}`"


def _row(entry: Entry, check: Check | None) -> str:
    slug = f"**{entry.slug}**" if entry.core else entry.slug
    how = found_by(entry) if check is None else "By a check."
    return f"| [{entry.id}](checks/{entry.id}.md) | {slug} | {_sentence(entry, check)} | {_when(entry)} | {how} |"


def _when(entry: Entry) -> str:
    return ", ".join(When(when).words for when in entry.when)


def _sentence(entry: Entry, check: Check | None) -> str:
    return _safe(parse(page(entry, check)).summary)


def _anchor(code: str, title: str) -> str:
    """The anchor of the heading `CODE: title`, as GitHub and the site make it."""
    return re.sub(r"[^\w -]", "", f"{code} {title}").lower().replace(" ", "-")


def _path(module: str) -> str:
    return f"{module.replace('.', '/')}.py"


def _safe(markdown: str) -> str:
    """Escapes `<` and `|` outside of code, so that <function=…> is not read as a tag."""
    return "\n".join(
        line if line.startswith("    ") else "".join(_escape(part) for part in _CODE.split(line))
        for line in markdown.split("\n")
    )


def _escape(part: str) -> str:
    return part if part.startswith("`") else part.replace("<", "&lt;").replace("|", "&#124;")
