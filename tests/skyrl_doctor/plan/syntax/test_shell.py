"""Shell texts, worked out without running them."""

import os
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyrl_doctor.plan.source import Source
from skyrl_doctor.plan.syntax.shell import Script, read_script


def script(text: str, **environ: str) -> Script:
    return read_script(Source("f.sh", text), environ)


def words(text: str, **environ: str) -> list[str]:
    """The words of the last command."""
    return [word.text for word in script(text, **environ).commands[-1].words]


SAME_AS_BASH = (
    ": \"${N:=7}\" ${M=8}\nprintf '%s|' $N $M",
    "f() {\n  local x=3\n  printf '%s|' a=$x\n}\nf",
    "N='größe'\nprintf '%s|' \"$N\" ü=$N${N} # ö\n",
    "N=3\nprintf '%s|' a=$N b=$((N * 2 + 1)) c=\"$N\" d='$N' e=${N} f=${M:-4} g=\"${M:-a b}\"",
    'A=(x=1 "y=2 3" # note\n  z=4)\nprintf \'%s|\' "${A[@]}"',
    "A=(x=1)\nA+=(y=2)\nprintf '%s|' \"${A[@]}\" end",
    "X='a b'\nprintf '%s|' $X \"$X\" p$X",
    "printf '%s|' a=[1,2]\\\n  b=c \\\n  # gone \\\n",
    "printf '%s|' $@ \"$@\" a 2>&1 | cat",
    "A=1 B=2\nprintf '%s|' $A$B",
    "X=$(( (7 - 2) / 2 % 4 ))\nprintf '%s|' $X $((2**10)) $((-X)) $((X > 1 ? 5 : 6))",
    'export FOO="x  $HOME  y"\nprintf \'%s|\' "$FOO"',
    "E=\nprintf '%s|' a $E \"$E\" ${E:-dflt} ${E-none}",
    "printf '%s|' \"tab\\\"quote \\$x\" a\\ b 'it'\"'\"'s'",
    'X=1\nX=${X}2\nprintf \'%s|\' "pre-${X}-post" {a} "{a,b}"',
    'Y=${Z:+set}\nW=3\nV=${W:+set}\nprintf \'%s|\' "$Y" "$V"',
    "S=a\nS+=b\nprintf '%s|' $S",
)


@pytest.mark.parametrize("text", SAME_AS_BASH)
def test_agrees_with_bash(text: str) -> None:
    done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, env={"HOME": "/h", "PATH": os.defpath})
    said = next(command for command in script(text, HOME="/h").commands if command.name == "printf")
    assert [word.unknown for word in said.words if word.unknown] == []
    assert done.stdout == "".join(f"{word.text}|" for word in said.words[2:])


@settings(max_examples=40, deadline=None)
@given(
    st.recursive(
        st.integers(0, 99).map(str),
        lambda e: st.tuples(e, st.sampled_from("+-*/%"), e).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        max_leaves=6,
    )
)
def test_arithmetic_agrees_with_bash(expression: str) -> None:
    done = subprocess.run(["bash", "-c", f"echo $(({expression}))"], capture_output=True, text=True)
    (word,) = script(f"X $(({expression}))").commands[0].words[1:]
    assert word.text == done.stdout.strip() if done.returncode == 0 else word.unknown != ""


def test_an_unknown_value_has_a_reason() -> None:
    found = script("A=$(date)\nif x; then B=1; fi\nfoo $A $B $C ${D##*/} $1 {a,b}c <(ls)\n")
    assert [word.unknown for word in found.commands[-1].words] == [
        "",
        "the output of a command is not known before it runs",
        "depends on the if in line 2",
        "C is not set here",
        "D is not set here",
        "$1 is an argument of the script",
        "bash expands unquoted braces; quote the value",
        "the output of a command is not known before it runs",
    ]


def test_an_element_of_an_array_keeps_its_own_line() -> None:
    found = script('A=(\n  a=1\n  b=2\n)\nfoo "${A[@]}"\n')
    assert [(word.text, word.line) for word in found.commands[0].words] == [("foo", 5), ("a=1", 2), ("b=2", 3)]


def test_a_command_in_the_next_line_does_not_own_the_assignments() -> None:
    found = script("A=1 B=2\nfoo\nC=3 bar\n")
    assert sorted(found.variables) == ["A", "B"]
    assert [sorted(command.environment) for command in found.commands] == [[], ["C"]]


def test_letters_that_the_grammar_dies_of_are_parts_of_words() -> None:
    """Its scanner reads beyond a table of C at some of these, and takes the process with it."""
    letters = [chr(code) for code in range(0x10000, 0x110000, 1009)]
    found = script("".join(f"foo {letter}{{{letter}\n" for letter in letters))
    assert [command.words[1].text for command in found.commands] == [f"{letter}{{{letter}" for letter in letters]


def test_what_a_branch_adds_to_an_array_leaves_the_rest_as_it_is() -> None:
    found = script('A=(a=1)\nif x; then A+=(b=2); fi\nfoo "${A[@]}" "${B[@]}"\n')
    assert [(word.text, word.unknown) for word in found.commands[-1].words] == [
        ("foo", ""),
        ("a=1", ""),
        ("b=2", "depends on the if in line 2"),
    ]


def test_an_array_that_nothing_sets_is_empty_unless_a_file_may_set_it() -> None:
    assert words('foo "${B[@]}" a') == ["foo", "a"]
    found = script('source unread.sh\nfoo "${B[@]}"\n')
    assert [(word.text, word.unknown) for word in found.commands[-1].words] == [
        ("foo", ""),
        ('"${B[@]}"', "the array B is not set here"),
    ]
