"""Failures that no check can see before a job: who finds them instead, and what is known of them there."""

from collections.abc import Iterator

from skyrl_doctor.catalogue import NOT_BUILT, Entry, When

_FINDERS = {When.WATCH: "skyrl-doctor watch", When.LOG: "skyrl-doctor diagnose"}


def finders(entry: Entry) -> tuple[str, ...]:
    """Nobody for one that a check could see: that check is missing."""
    return () if When.PREFLIGHT in entry.when else tuple(_FINDERS[when] for when in entry.when if when in _FINDERS)


def told(entry: Entry) -> str:
    """In a line, where the summary of a check would stand."""
    found = finders(entry)
    return f"Found by {' and '.join(found)}." if found else f"{NOT_BUILT[0].upper()}{NOT_BUILT[1:]}."


def sections(entry: Entry) -> Iterator[tuple[str, str]]:
    """What the watch wants, and the lines that diagnose knows, as a page has it."""
    if When.WATCH in entry.when:
        wanted = "\n".join(_watched(entry))
        if wanted:
            yield "During the job", wanted
    if When.LOG in entry.when:
        lines = "\n\n".join(_logged(entry))
        if lines:
            yield "In its logs", lines


def _watched(entry: Entry) -> Iterator[str]:
    from skyrl_doctor.watch.rules.conditions import CONDITIONS

    for rule in CONDITIONS:
        if rule.id == entry.id:
            name = rule.key.partition(".")[2]
            remedy = f" {_sentence(rule.advice.summary)}." if rule.advice else ""
            yield f"- {name}: reported after {rule.after} steps in a row; expected: {rule.expected}.{remedy}"


def _logged(entry: Entry) -> Iterator[str]:
    from skyrl_doctor.logs.known import known

    samples: dict[str, list[str]] = {}
    for each in known():
        if each.id == entry.id:
            samples.setdefault(each.signature.explain, []).append(each.signature.sample.splitlines()[0])
    for explain, lines in samples.items():
        yield "\n\n".join([f"{_sentence(explain)}:", "\n".join(f"    {line}" for line in lines)])


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
