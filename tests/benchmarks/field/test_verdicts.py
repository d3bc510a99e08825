"""Classes of errors and of passes."""

from benchmarks.field.doctor import Error, Opinion
from benchmarks.field.launches import Launch
from benchmarks.field.truth import Refusals, Truth
from benchmarks.field.verdicts import BY_HAND, FALSE, TRUE, VERSION, WARNED, false_pass, judged

LAUNCH = Launch("hydra", "verl.trainer.main_ppo", "main_ppo.py", "/", ())
TRUTH = Truth(
    (LAUNCH,),
    (Refusals({"a.b=1": "no such key", "t[0].x=1": "x"}, "", {"old.key=2": "gone"}),),
    lost=("late.key=3", "other=1"),
)


def verdict(key: str, check: str = "CFG004", truth: Truth = TRUTH) -> str:
    return judged("s:p.sh", Error(check, key, 1, "m"), truth, {"s:p.sh CFG001 n": TRUE}).verdict


def test_an_error_is_true_if_its_program_refuses_the_key_or_bash_loses_it() -> None:
    assert [verdict(key) for key in ("a.b", "+a.b", "a", "late.key")] == [TRUE] * 4


def test_an_error_that_only_another_version_has() -> None:
    assert verdict("old.key") == VERSION


def test_an_error_that_no_program_has_is_false() -> None:
    assert [verdict(key) for key in ("a.bc", "c")] == [FALSE] * 2


def test_what_no_program_decides_is_for_a_reader_whose_label_counts() -> None:
    unasked = Truth((LAUNCH,), (Refusals(broken="no schema"),))
    broken = Truth((LAUNCH,), (Refusals(broken="no composition"),))
    assert [verdict("n", "CFG001"), verdict("a.b", "CFG001")] == [TRUE, BY_HAND]
    assert [verdict("a.b", truth=unasked), verdict("a.b", truth=broken), verdict("")] == [BY_HAND] * 3


def test_a_pass_is_false_if_the_program_refuses_a_key_or_is_another() -> None:
    other = Truth((Launch("other", "my.py", None, "/", ()),), (Refusals(broken="no schema for my.py"),))
    fine = Truth((LAUNCH,), (Refusals(),))
    assert false_pass(Opinion(0, "verl"), TRUTH) == "its own program refuses a.b=1: no such key"
    assert false_pass(Opinion(0, "skyrl-agent"), other) == "read as skyrl-agent, but it starts my.py"
    assert [false_pass(Opinion(0, "verl"), fine), false_pass(Opinion(1, "verl"), TRUTH)] == ["", ""]
    assert false_pass(Opinion(2, refused="unknown"), other) == ""
    assert false_pass(Opinion(3, "verl", unchecked="my.py: its keys are not checked"), other) == ""


def test_a_pass_whose_warning_names_the_refused_setting_is_not_silent() -> None:
    warned = Opinion(0, "verl", warned=("verl 0.9.1 lacks a.b (verl 0.8.0)",))
    silent = Opinion(0, "verl", warned=("verl 0.9.1 lacks t[0].x",))
    assert false_pass(warned, Truth((LAUNCH,), (Refusals({"a.b=1": "no such key"}),))).startswith(WARNED)
    assert false_pass(silent, TRUTH) == "its own program refuses a.b=1: no such key"
