"""What the commands print cannot control a terminal, whatever its source."""

import io
import json
import sys
from contextlib import redirect_stdout

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.contracts.printable import one_line, printable
from skyrl_train.contracts.screen import guarded, print_exact, print_line, print_lines, print_note

ATTACKS = {
    "CSI": "\x1b[2J\x1b[1;1Hverdict: pass",
    "OSC: title": "\x1b]0;title\x07",
    "OSC: clipboard": "\x1b]52;c;cm0gLXJmIH4=\x07",
    "OSC: link": "\x1b]8;;https://example.org\x1b\\text\x1b]8;;\x1b\\",
    "DCS": "\x1bP$q\x1b\\",
    "C1 CSI": "\x9b2J",
    "C1 OSC": "\x9d0;title\x9c",
    "carriage return": "3 errors\rverdict: pass",
    "backspace": "fail\b\b\b\bpass",
    "vertical tab": "a\x0bb",
    "delete": "a\x7fb",
    "bell": "\a",
    "override": "\u202egnp.exe",
    "isolate": "\u2066a\u2069",
    "mark": "\u200fa",
    "line separator": "a\u2028b",
    "answerback": "\x05",
    "tags": "ls\U000e0072\U000e006d",
    "no width": "train\u200b_size",
    "joined words": "a\u2060b",
    "byte order mark": "\ufeffa",
    "soft hyphen": "a\u00adb",
    "annotation": "a\ufff9b\ufffb",
    "filler": "a\u3164b\u115f",
}


@pytest.mark.parametrize("text", ATTACKS.values(), ids=ATTACKS)
def test_no_stream_passes_it_on(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with guarded():
        print_line(text)
        print_lines([text])
        print_exact("")
        print_note(text)
        sys.stdout.write(text)
        sys.stdout.writelines([text])
        sys.stderr.write(text)
    out, err = capsys.readouterr()
    for printed in (out, err):
        assert [char for char in printed if char in text and not char.isprintable() and char != "\n"] == []
    assert printable(text) != text


@pytest.mark.parametrize("text", ATTACKS.values(), ids=ATTACKS)
def test_json_keeps_its_meaning(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with guarded():
        sys.stdout.write(json.dumps({"name": text}, ensure_ascii=False))
    assert json.loads(capsys.readouterr().out) == {"name": text}


def test_a_name_adds_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_line("no such file: a\nverdict: pass")
    print_lines(["a\nb", "c"])
    assert capsys.readouterr().out == "no such file: a\\nverdict: pass\na\\nb\nc\n"


def test_text_for_programs_is_exact_unless_a_person_reads_it() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for stream, expected in ((io.StringIO(), "- a\r\n"), (Terminal(), "- a\\x0d\n")):
        with redirect_stdout(stream), guarded():
            print_exact("- a\r\n")
        assert stream.getvalue() == expected


def test_the_streams_are_put_back() -> None:
    before = sys.stdout, sys.stderr
    with guarded():
        assert sys.stdout is not before[0]
    assert (sys.stdout, sys.stderr) == before


@given(st.text())
def test_ordinary_text_stays(text: str) -> None:
    if text.isprintable():
        kept = "".join(char for char in text if char not in "\u061c\u200e\u200f")
        assert printable(kept) == kept
    assert "\n" not in one_line(text)
