"""Reads the status of each test from the output of pytest, unittest, Django, SymPy or Go.

The formats and names are those of SWE-bench 5 and SWE-smith, since the names in their rows were made from them.
"""

import re
from collections.abc import Collection, Iterator

_COLOUR = re.compile(r"\x1b\[[0-9;]*m|\r")
_STATUS = "PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS"
# "PASSED tests/test_a.py::TestB::test_c[x - y]", "[gw0] [ 50%] PASSED tests/test_a.py::test_b"
_SUMMARY = re.compile(rf"(?:\[gw\d+\] )?(?:\[ *\d+%\] )?({_STATUS})\s+(\S.*)")
# "SKIPPED [3] tests/test_a.py:12: no network": a count, not the name of a test
_SKIPS = re.compile(r"\[\d+\] ")
# "tests/test_a.py::test_b PASSED   [ 50%]", "tests/test_a.py::test_b SKIPPED (no network) [ 50%]"
_VERBOSE = re.compile(rf"\s({_STATUS})(?=\s|$)")
_AFTER_VERBOSE = re.compile(r"(?:\s+\(.*\))?(?:\s+\[ *\d+%\])?")
# "--- PASS: TestRoute (0.00s)"
_GO = re.compile(r"\s*--- (PASS|FAIL|SKIP): (\S.*) \([^()]*\)")
# "test_solve ok", "test_solve F"
_SYMPY = re.compile(r"(test_\S+) (?:.* )?(ok|E|F)")
# "test_a (module.Class)", "test_a (module.Class.test_a)": the description of the test follows in the next line
_UNITTEST_NAME = re.compile(r"test\w* \([\w.]+\)")
_WORDS = {
    "ok": "PASSED", "OK": "PASSED", "FAIL": "FAILED", "ERROR": "ERROR",
    "expected failure": "XFAIL", "unexpected success": "XPASS",
}  # fmt: skip
_GO_WORDS = {"PASS": "PASSED", "FAIL": "FAILED", "SKIP": "SKIPPED"}
_SYMPY_WORDS = {"ok": "PASSED", "E": "ERROR", "F": "FAILED"}
_DOTS = " ... "
_LONGEST = 4000
"""Characters of a line. Code under test may print lines of any length."""


def statuses_in(output: str, expected: Collection[str]) -> dict[str, str]:
    """The status of each test in the output. The last one of a name counts."""
    found: dict[str, str] = {}
    unittest = _Unittest()
    for line in readable_lines(output):
        found.update(unittest.read(line) or _in_line(line, expected))
    return found


def readable_lines(output: str) -> Iterator[str]:
    """The lines without colours, each cut at a length."""
    for line in _COLOUR.sub("", output).split("\n"):
        yield line[:_LONGEST].rstrip()


def _in_line(line: str, expected: Collection[str]) -> Iterator[tuple[str, str]]:
    if match := _SUMMARY.fullmatch(line):
        if match[1] != "SKIPPED" or not _SKIPS.match(match[2]):
            yield _without_message(match[2], expected), match[1]
    elif (match := _VERBOSE.search(line)) and "::" in line[: match.start()].partition(" ")[0]:
        if _AFTER_VERBOSE.fullmatch(line, match.end()):
            yield line[: match.start()].rstrip(), match[1]
    elif match := _GO.fullmatch(line):
        yield match[2], _GO_WORDS[match[1]]
    elif match := _SYMPY.fullmatch(line.strip()):
        yield match[1], _SYMPY_WORDS[match[2]]


def _without_message(text: str, expected: Collection[str]) -> str:
    """The name before pytest's message. A name may contain " - ": the longest expected one counts, else the shortest."""
    name = text
    while name not in expected and " - " in name:
        name = name.rpartition(" - ")[0]
    return name


class _Unittest:
    """Lines of unittest and Django. What a test prints may stand between its name and its status, on several lines."""

    def __init__(self) -> None:
        self._above = ""
        self._open: tuple[str, ...] = ()

    def read(self, line: str) -> list[tuple[str, str]]:
        """The tests that end in this line, with their status."""
        text = line.strip()
        above, self._above = self._above, text if _UNITTEST_NAME.fullmatch(text) else ""
        if _DOTS not in text:
            return self._end(text)
        name, _, last = text.rpartition(_DOTS)
        if _unittest_status(last) is None:  # the status comes in a later line
            self._open = _named(above, text.partition(_DOTS)[0])
            return []
        self._open = _named(above, name)
        return self._end(last)

    def _end(self, text: str) -> list[tuple[str, str]]:
        status = _unittest_status(text)
        if status is None or not self._open:
            return []
        names, self._open = self._open, ()
        return [(name, status) for name in names]


def _named(above: str, name: str) -> tuple[str, ...]:
    """The names under which a test may be expected: its own, its description, and the rest of a line of a migration."""
    names = (above, name, name.rpartition("...")[2])  # "Applying sites.0002_unique...test_a (module.Class) ... ok"
    return tuple(dict.fromkeys(each.strip() for each in names if each.strip()))


def _unittest_status(text: str) -> str | None:
    text = text.strip()
    return "SKIPPED" if text.partition(" ")[0] == "skipped" else _WORDS.get(text)
