"""Texts for users hold none of the words that the language rules avoid."""

from benchmarks.language import AVOIDED, found


def test_no_text_for_users_holds_a_word_to_avoid() -> None:
    assert [f"{path}:{line}: {words}" for _, path, line, text in found() if (words := AVOIDED.findall(text))] == []


def test_a_word_to_avoid_is_found() -> None:
    assert AVOIDED.findall("exit 1, wanted 0: nobody was told") == ["wanted", "nobody", "told"]
