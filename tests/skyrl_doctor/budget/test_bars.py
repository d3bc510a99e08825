"""Bars in plain text."""

from memories import memory
from skyrl_doctor.budget.bars import LETTERS, MEANINGS, WIDTH, draw_bars
from skyrl_train.memory import Component


def test_every_component_has_a_letter_of_its_own() -> None:
    assert set(LETTERS) == set(Component)
    assert len(set(LETTERS.values())) == len(LETTERS)
    assert all(letter.isalpha() for letter in LETTERS.values())


def test_a_bar_is_as_long_as_its_share_of_the_device() -> None:
    update, sync, rollout, *_ = draw_bars(memory(total=20, update=10, sync=5, rollout=20))
    assert [line.count("W") for line in (update, sync)] == [WIDTH // 2, WIDTH // 4]
    assert rollout.count("W") + rollout.count("V") == WIDTH


def test_the_legend_explains_each_letter_that_is_drawn_and_no_other() -> None:
    assert list(draw_bars(memory(total=20, update=10, sync=5, rollout=20)))[3:] == [
        "W  weights: the trainer's copy of the model",
        "V  vLLM: its weights and its KV cache",
        "|  the limit of the GPU",
    ]
    assert not [line for line in draw_bars(memory(total=2000, update=1500, rollout=1)) if line.startswith("V")]
    assert set(MEANINGS) == set(Component)


def test_what_does_not_fit_stands_behind_the_mark() -> None:
    update = next(draw_bars(memory(total=20, update=40)))
    before, _, after = update.partition("|")
    assert (before.count("W"), after.count("W")) == (WIDTH // 2, WIDTH // 2)
