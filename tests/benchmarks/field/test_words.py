"""Our words beside those of bash."""

from benchmarks.field.doctor import OurWord
from benchmarks.field.launches import Launch
from benchmarks.field.words import Difference, Words, compared


def words(*ours: str, bash: tuple[str, ...]) -> Words:
    made = [OurWord(text.removesuffix("?"), "unknown" if text.endswith("?") else "") for text in ours]
    return compared([Launch("hydra", "m", None, "/", bash)], [made])


def test_equal_and_unknown_words_are_counted() -> None:
    assert words("python", "-m", "m", "a=1", "b=$X?", bash=("a=1", "b=7")) == Words(1, 1)


def test_a_word_that_differs_is_named_on_both_sides() -> None:
    assert words("python", "-m", "m", "a=1", bash=("a=2",)) == Words(
        differences=(Difference("m", "a=1", None), Difference("m", None, "a=2"))
    )


def test_a_command_that_we_do_not_see_is_a_difference() -> None:
    assert words("echo", bash=("a=2",)) == Words(differences=(Difference("m", None, "(the whole command)"),))


def test_the_most_similar_of_several_commands_is_taken() -> None:
    launch = Launch("hydra", "m", None, "/", ("a=2",))
    commands = [[OurWord("m", ""), OurWord(text, "")] for text in ("a=1", "a=2")]
    assert compared([launch], commands) == Words(1)
