"""The lines below a reason of pip and uv are read without what stands before them, and whole where uv broke them."""

from skyrl_doctor.logs.judge.files import scan_chunks
from skyrl_doctor.logs.judge.scanner import Scanner
from skyrl_doctor.logs.judge.tally import Scan
from skyrl_doctor.logs.match.patterns import installed_patterns

HEAD = "  × Failed to build `own==2.8`\n  ╰─▶ Call to `own.build_wheel` failed (exit status: 1)\n\n"


def scan(log: str) -> Scan:
    return scan_chunks("x.log", [log.encode()], installed_patterns())


def hits(log: str) -> list[tuple[str, int, str]]:
    return [(hit.failure.name, hit.line.number, hit.line.text) for hit in scan(log).hits]


def test_a_line_below_a_reason_is_read_without_its_indentation() -> None:
    assert hits(f"{HEAD}      ./own/bin/python3: No module named own.build\n") == [
        ("ENV022", 4, "./own/bin/python3: No module named own.build")
    ]


def test_the_box_ends_where_a_line_stands_further_left() -> None:
    assert hits(f"{HEAD}      fine\n  help: more\n      /own/bin/python3: No module named own.build\n") == []


def test_a_line_that_had_room_for_the_next_word_was_not_broken() -> None:
    wide = "      a line of the same output which reaches nearly to the width of it\n"
    assert (
        hits(f"{HEAD}{wide}      nvcc was not found.\n      Are you sure your environment has nvcc available?\n") == []
    )


def test_a_broken_line_is_joined() -> None:
    text = "the own package needs a compiler for its kernels, and nvcc was not found."
    assert hits(f"{HEAD}      {text}\n      Are you sure your environment has nvcc available?\n") == [
        ("ENV023", 4, f"{text} Are you sure your environment has nvcc available?")
    ]


def test_a_box_goes_on_in_the_next_block() -> None:
    scanner = Scanner("x.log", installed_patterns())
    scanner.feed(HEAD.encode())
    scanner.flush()
    scanner.feed(b"      ./own/bin/python3: No module named own.build\n")
    assert [(hit.failure.name, hit.line.number) for hit in scanner.finish().hits] == [("ENV022", 4)]


def test_lines_between_boxes_are_read_as_they_are() -> None:
    line = "/own/bin/python3: No module named own.build\n"
    assert [hit[:2] for hit in hits(f"{line}{HEAD}      {line}{line}{HEAD}      {line}")] == [
        ("ENV022", 1),
        ("ENV022", 5),
        ("ENV022", 6),
        ("ENV022", 10),
    ]
