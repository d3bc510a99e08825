"""Outputs of pytest as R2E-Gym's containers write them, put together at random, the same each time."""

import random
from dataclasses import dataclass

RED, GREEN, BOLD, PLAIN = "\x1b[31m", "\x1b[32m", "\x1b[1m", "\x1b[0m"
FILES = ("r2e_tests/test_1.py", "r2e_tests/test_2.py", "r2e_tests/sub/test_3.py")
NAMES = (
    "test_add",
    "TestFrame::test_merge",
    "TestFrame::test_merge[left - right]",
    "test_parse[a::b]",
    "test_parse[x - y::z]",
    "test_round[1.5-ERROR]",
    "test_status[FAILED]",
    "test_says_PASSED",
    "TestA::TestB::test_deep",
    "test_ünïcode[→]",
    "test_space[ - ]",
)
REASONS = ("", " - assert 1 == 2", " - ValueError: a::b", " - KeyError: 'x - y'", " - AssertionError: PASSED", " - ")
KINDS = ("usual", "colour", "truncated", "no summary", "empty", "two summaries", "crlf", "collection error")


@dataclass(frozen=True)
class Output:
    kind: str
    text: str


def generated(count: int, seed: int = 11) -> list[Output]:
    rng = random.Random(seed)
    return [_output(KINDS[i % len(KINDS)], rng) for i in range(count)]


def _output(kind: str, rng: random.Random) -> Output:
    if kind == "empty":
        return Output(kind, rng.choice(("", "\n", " \r\n")))
    head = "===== test session starts =====\ncollected 5 items\n\nr2e_tests/test_1.py ..F.E\n"
    summary = _summary(kind, rng)
    tail = f"\n===== {rng.randrange(9)} failed, {rng.randrange(9)} passed, 1 xfailed in 0.12s ====="
    text = head + ("" if kind == "no summary" else summary) + tail + rng.choice(("", "\n"))
    if kind == "two summaries":
        text += "\n" + head + _summary(kind, rng) + tail
    if kind == "crlf":
        text = text.replace("\n", "\r\n")
    if kind == "truncated":
        text = text[: rng.randrange(len(text))]
    return Output(kind, text)


def _summary(kind: str, rng: random.Random) -> str:
    rule = "=" * rng.randrange(5, 30)
    lines = [_line(kind, rng) for _ in range(rng.randrange(1, 9))]
    if kind == "collection error":
        lines.insert(rng.randrange(len(lines) + 1), "ERROR r2e_tests/test_2.py - ModuleNotFoundError: No module")
    return f"{rule} short test summary info {rule}\n" + "\n".join(lines)


def _line(kind: str, rng: random.Random) -> str:
    file, name, reason = rng.choice(FILES), rng.choice(NAMES), rng.choice(REASONS)
    line = rng.choice(
        (
            f"PASSED {file}::{name}",
            f"PASSED {file}::{name}",
            f"FAILED {file}::{name}{reason}",
            f"ERROR {file}::{name}{reason}",
            f"XFAIL {file}::{name}{reason}",
            f"XPASS {file}::{name}{reason}",
            f"SKIPPED [1] {file}:12: needs a network",
            "  and a second line of a reason, ERROR in it",
        )
    )
    if kind != "colour":
        return line
    status, _, rest = line.partition(" ")
    path, colons, test = rest.partition("::")
    return f"{rng.choice((RED, GREEN))}{status}{PLAIN} {path}{colons}{BOLD}{test}\x1b[0;1;31m{PLAIN}"
