"""Questions to a terminal are no output; colours and titles are."""

import pytest

from skyrl_train.agent.inside.output import Output

QUERIES = (
    "\x1b[6n",
    "\x1b[c",
    "\x1b[0c",
    "\x1b[>c",
    "\x1b[>0c",
    "\x1b]11;?\x07",
    "\x1b]10;?\x1b\\",
    "\x1b]4;1;?\x07",
    "\x1bP$qm\x1b\\",
)
KEPT = ("\x1b[32m", "\x1b[0m", "\x1b[2J", "\x1b[5;10H", "\x1b]0;a title\x07", "\x1b]8;;https://a.example\x1b\\", "\x1b")


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_is_left_out_wherever_a_read_ends(query: str) -> None:
    data = f"é{query}b\n".encode()
    for at in range(len(data) + 1):
        output = Output()
        output.add(data[:at])
        first = output.take()
        output.add(data[at:])
        output.add(b"", last=True)
        assert first + output.take() == "éb\n"


@pytest.mark.parametrize("text", KEPT)
def test_what_asks_nothing_stays(text: str) -> None:
    output = Output()
    for byte in f"a{text}b{text}".encode():
        output.add(bytes((byte,)))
    output.add(b"", last=True)
    assert output.take() == f"a{text}b{text}"


def test_a_long_title_without_an_end_is_not_held_back() -> None:
    output = Output()
    output.add(b"\x1b]0;" + b"x" * 200)
    assert output.take() == "\x1b]0;" + "x" * 200
