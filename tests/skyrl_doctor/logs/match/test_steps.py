"""Of many steps in a row, only the last few before another place are kept."""

from skyrl_doctor.logs.match.engine import Place
from skyrl_doctor.logs.match.steps import thin_steps

LINE = b"step:1 - a\n"


def test_only_the_last_before_another_place_and_the_last_of_all_are_kept() -> None:
    text, texts = LINE * 9 + b"boom\n" + LINE * 9, {5: (b"step:",)}
    steps: list[Place] = [(at * len(LINE), 6) for at in range(9)]
    later = [(at + 9 * len(LINE) + 5, 6) for at, _ in steps]
    boom: Place = (9 * len(LINE) + 2, 1)
    assert thin_steps(text, [(0, 5), boom], texts, bool, 6) == [*steps[-3:], boom, *later[-3:]]
    assert thin_steps(text, [boom], texts, bool, 6) == [boom]
    assert thin_steps(text, [boom, (later[0][0], 5)], texts, lambda _: False, 6) == [boom]
    assert thin_steps(text, [(2, 1), boom, (later[0][0], 5)], texts, bool, 6)[:2] == [(0, 5), (2, 1)]


def test_a_long_line_keeps_all_its_steps() -> None:
    text = b"x step:1 - a" * 2000
    assert [number for _, number in thin_steps(text, [(2, 5)], {5: (b"step:",)}, bool, 6)] == [5] * 2001
