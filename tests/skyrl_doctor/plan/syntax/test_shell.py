"""Shell texts, worked out without running them."""

import contextlib
import os
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyrl_doctor.core.errors import UsageError
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
    "V=v3\nprintf '%s|' a=text-$V/x/$V.json b=pre${V}post",
    "printf '%s|' ${X:-$((1024*8))} ${Y:-$((2 * (3 + 4)))} $(( ${Z:-4} * 1024 ))",
    "printf '%s|' \"$(dirname /a/b/c.sh)\" $(basename /a/b/c.sh .sh) $(basename x/y)",
    "case \"${D:-gpu}\" in\n  npu) A=1 ;;\n  gpu|cuda) A=2 ;;\n  *) A=3 ;;\nesac\nprintf '%s|' $A",
    'if [ "${B:-vllm}" = vllm ]; then A=(x=1); else A=(x=2); fi\nprintf \'%s|\' "${A[@]}"',
    'A=(a=1 b=2)\nB="${A[@]}"\nprintf \'%s|\' ${B} "$B"',
    'A=(a=1 b=2)\nB="x ${A[@]} y"; C=x"${A[@]}"y; D="${A[*]}"; E=${A[@]}\nprintf \'%s|\' "$B" "$C" "$D" "$E"',
    'set -- a=1 b=2\nB="$@"\nexport C="${@}"\nprintf \'%s|\' $B "$C"',
    'A=(a=1 b=2)\nB="${A[@]:1}${A[@]/a/c}"; A+=("${A[@]}")\nprintf \'%s|\' "$B" "${A[@]}"',
    'A=(a b c)\nA[1]=z\nprintf \'%s|\' ${A[0]} ${#A[@]} "${A[@]:1}" "${A[*]}" x"${A[@]}"y',
    'A=(a b c)\nIFS=,\nprintf \'%s|\' "${A[*]}" "[${A[*]:1}]"',
    'A=(a b c)\nIFS=,\nX="${A[*]}"\nunset IFS\nprintf \'%s|\' "$X" "${A[*]}"',
    'A=(a b)\nX=$(IFS=,; echo "${A[*]}")\nIFS=\nprintf \'%s|\' "$X" "${A[*]}"',
    'f() { local IFS=-; X="$*"; }\nf a b\nprintf \'%s|\' "$X"',
    "X=/a/b.tar.gz\nprintf '%s|' ${X##*/} ${X%.*} ${X%%.*} ${X#/a} ${X//a/o} ${X/b/\"c d\"} ${#X} ${X:3} ${X:1:2}",
    "X=aBc\nprintf '%s|' ${X^^} ${X,,} ${X^} ${X,}",
    "f() {\n  printf '%s|' $# \"$1\" ${2:-none} \"${@:2}\"\n}\nf 'a b' c d",
    "set -- a=1 b=2 c=3\nshift\nprintf '%s|' \"$@\" $#",
    "while [[ $# -gt 0 ]]; do case $1 in --x) X=$2; shift 2 ;; *) break ;; esac; done\nprintf '%s|' \"${X:-none}\"",
    "set -- --x 5 rest=1\nwhile [[ $# -gt 0 ]]; do case $1 in --x) X=$2; shift 2 ;; *) break ;; esac; done\nprintf '%s|' $X $@",
    "for i in 1 2 3; do L+=(n=$i); done\nprintf '%s|' \"${L[@]}\"",
    "for ((i = 0; i < 3; i++)); do L+=(n=$i); done\nprintf '%s|' \"${L[@]}\"",
    "i=0\nwhile (( i < 4 )); do ((i++)); [ $i -eq 2 ] && continue; L+=($i); done\nprintf '%s|' ${L[@]}",
    "T=$(cat <<'END'\na $x\nb\nEND\n)\nprintf '%s|' \"$T\"",
    "cat <<END > /dev/null\nX=wrong\nEND\nprintf '%s|' \"${X:-right}\"",
    "declare -A M=([a]=1 [b]=2)\nM[c]=3\nK=b\nprintf '%s|' ${M[$K]} ${M[c]} ${#M[@]}",
    "N=X\nX=5\nprintf '%s|' ${!N}",
    "[[ a.b =~ ^a ]] && Y=1 || Y=2\n[ -z \"$Q\" ] && Z=empty\nprintf '%s|' $Y $Z",
    "X=1 && Y=2\nfalse || Z=3\ntrue || Z=4\nprintf '%s|' $X $Y $Z",
    'CMD="printf %s| a b"\n$CMD',
    "eval 'A=3'\nprintf '%s|' $A",
    "X=\"a='p q' b=[1,'2']\"\nC=\"printf '%s|' $X\"\neval $C",
    "eval \"printf '%s|' a\" 'b c' '\"d e\"'",
    "printf '%s|' ${X:-'a b'} ${X:-\"c d\"} ${X:-e f} ${X:-'g h' i} p${X:-'j k'}q",
    "printf '%s|' ${X:-a\\ b} ${X-'c  d'} ${Y:='e f'} $Y ${Y:+'g h'} ${X:-['i j','k']} ${X:-\"l 'm' n\"o}",
    "Z='a b'\nprintf '%s|' ${X:-$Z} ${X:-\"$Z\"} ${X:-'$Z'} ${X:-c\"$Z\"d} ${Z:+\"$Z\" $Z}",
    "printf '%s|' ${X:-} \"${X:-}\" ${X:-''} ${X:-\"\"} x${X:-' '}y ${X:- z }",
    "f() { :; }\nset -- a b\nf c\nprintf '%s|' \"$@\"",
    "(X=1)\nprintf '%s|' \"${X:-outside}\"",
    "f() { local X=1; Y=2; }\nX=0\nf\nprintf '%s|' $X $Y",
    "cd /usr/lib\ncd ..\nprintf '%s|' \"$(pwd)\" $PWD",
    "D=$(cd /usr/lib/.. && pwd)\nprintf '%s|' $D",
    "IFS=, read -ra G <<< 0,1,2\nprintf '%s|' ${#G[@]} ${G[2]}",
    "X='a=1 b=2'\nX=\"$X c=3\"\nprintf '%s|' $X",
    "A=x\nif [[ $A == x* && ! $A == y ]]; then B=1; elif [[ -n $A ]]; then B=2; fi\nprintf '%s|' $B",
    "F=$'a\\tb'\nprintf '%s|' \"$F\" ~/x \"~\"",
    "N=4\n: $((N *= 2)) $((N--))\nprintf '%s|' $N $((N % 3 == 1 ? 10 : 20)) $((1 << 4 | 1))",
    "echo_it() { echo value-$1; }\nprintf '%s|' $(echo_it 3) `echo tick`",
    "set -a\nX=3\nset +a\nprintf '%s|' $(printf '%s-%s' $X b) $(seq 2 4)",
    'A=()\nprintf \'%s|\' "${A[@]}" ${A[@]+"${A[@]}"} end',
    'X="two\nlines"\nprintf \'%s|\' "$X" $X',
    'set -- a\nprintf \'%s|\' "${@:2}" "${A[@]:1}" end ""',
    "D=$(python3 -c 'import torch_npu' 2> /dev/null && echo npu || echo gpu)\nprintf '%s|' $D",
    "printf '%s|' a{b}c 'a{b,c}' \"{x: 1}\" a='{b,c}'",
    "T=\"${T:-['</t>']}\"\nprintf '%s|' $T \"${U-a'b c'd}\"",
    'printf \'%s|\' "${U:-"a \'b\' c"}" "${U:-${V:-\'x\'}}" "${U:-a\\nb\\$c}" "${U:-$(echo \'y z\')}"',
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
        "known only when the script runs",
        "depends on the if in line 2",
        "C is not set here",
        "D is not set here",
        "$1 is an argument of the script",
        "bash expands unquoted braces; quote the value",
        "known only when the script runs",
    ]


def test_an_end_that_may_not_come_ends_nothing() -> None:
    text = "for i in $(ls); do [ $i = 2 ] && break; foo $i; done\nif [ $(date) = x ]; then exit 1; fi\nbar\n"
    assert [command.name for command in script(text).commands] == ["foo", "bar"]
    assert [command.name for command in script("foo\nexit\nbar\n").commands] == ["foo"]


def test_an_unknown_directory_stays_unknown() -> None:
    (word,) = script("cd /a\ncd $(newest)\nfoo $(pwd)/x\n").commands[-1].words[1:]
    assert word.unknown != ""


def test_eval_reads_the_words_around_what_is_unknown() -> None:
    text = "M=$(newest)\nC=\"foo a='b c' m='$M' n=$M/x \\\\\n  'd=1'\"\neval $C\n"
    why = "known only when the script runs"
    assert [(word.text, word.unknown) for word in script(text).commands[-1].words] == [
        ("foo", ""),
        ("a=b c", ""),
        ("m=$(newest)", why),
        ("n=$(newest)/x", why),
        ("d=1", ""),
    ]
    assert words("eval $(hook) x")[0] == "eval"
    assert words('eval "foo \ue0007\ue000 $(a)"')[1] == "\ue0007\ue000"


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


def test_a_string_with_one_unknown_keeps_its_other_words() -> None:
    found = script('S="a=1 b=$NOPE c=3"\nfoo $S\n')
    assert [(word.text, word.unknown) for word in found.commands[0].words] == [
        ("foo", ""),
        ("a=1", ""),
        ("b=$NOPE", "NOPE is not set here"),
        ("c=3", ""),
    ]


@pytest.mark.parametrize(
    "text",
    [
        'case "$(hostname)" in\n  a*) X=(n=1) ;;\n  *) X=(n=2) ;;\nesac\nfoo "${X[@]}"',
        'if hostname | grep -q a; then X=(n=1); else X=(n=2); fi\nfoo "${X[@]}"',
        'case "$1" in\n  big) X=(n=1) ;;\n  *) X=(n=2) ;;\nesac\nfoo "${X[@]}"',
    ],
)
def test_of_arms_that_exclude_each_other_the_default_is_taken(text: str) -> None:
    assert words(text) == ["foo", "n=2"]


@pytest.mark.parametrize(
    "text",
    [
        "if [ $# -lt 2 ]; then echo usage; exit 1; fi\nfoo a",
        '[ -z "$1" ] && { echo usage; exit 1; }\nfoo a',
        'case "$1" in\n  x) A=1 ;;\n  *) exit 1 ;;\nesac\nfoo a',
        "cd /nowhere || exit 1\nfoo a",
        "[ -f config.json ] || exit 1\nfoo a",
        "if [ ! -d model ]; then\n  exit 3\nfi\nfoo a",
    ],
)
def test_a_guard_that_would_end_the_script_is_not_taken_on_a_guess(text: str) -> None:
    assert words(text) == ["foo", "a"]


def test_a_script_ends_where_it_says_so() -> None:
    assert [command.name for command in script("A=1\nfoo\nif [ $A = 1 ]; then exit; fi\nbar\n").commands] == ["foo"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("A=aaaaaaaa\n" + "A=$A$A\n" * 40 + "foo $A", "the value is longer than 65536 bytes"),
        ("A=(a b)\n" + 'A=("${A[@]}" "${A[@]}")\n' * 40 + 'foo "${A[@]}"', "the array is too long"),
    ],
)
def test_nothing_doubles_without_end(text: str, reason: str) -> None:
    (_, word) = script(text).commands[-1].words
    assert (word.unknown, len(word.text)) == (reason, 1)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("f() { f; f; f; }\nf\n", "the shell script takes more than 20000 steps"),
        (
            "for a in 1 2 3 4 5 6 7 8 9 0; do\n" * 5 + "foo\n" + "done\n" * 5,
            "the shell script starts more than 4000 commands",
        ),
    ],
)
def test_a_script_that_takes_too_many_steps_is_refused(text: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        script(text)


@pytest.mark.parametrize("piece", ["$(", "${A:-", '"$(', "`", "$((", "[[ ", "(("])
def test_deep_nesting_ends(piece: str) -> None:
    """A refusal or an unknown value, but no crash and no endless run."""
    with contextlib.suppress(UsageError):
        script(f"foo {piece * 3000}x\nbar {piece}\n")


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("python3 -m verl.trainer.main_ppo a=$V", "sleep 20", "python3 -m verl.trainer.main_ppo a=1"),
        ("sleep 20", "python3 -m verl.trainer.main_ppo a=$V", "python3 -m verl.trainer.main_ppo a=1"),
        ("torchrun train_a.py", "torchrun train_b.py", "torchrun train_b.py"),
        ("python3 download.py", "sleep 20", "sleep 20"),
    ],
)
def test_where_the_condition_is_unknown_the_arm_that_trains_is_followed(first: str, second: str, expected: str) -> None:
    text = f'V=1\nHEAD=$(host node)\nif [ "$HEAD" = "$(hostname -f)" ]; then\n  {first}\nelse\n  {second}\nfi\n'
    assert " ".join(words(text)) == expected
