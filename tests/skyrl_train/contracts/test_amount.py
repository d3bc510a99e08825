import pytest

from skyrl_train.contracts.amount import amount


@pytest.mark.parametrize(("number", "text"), [(0, "0 rows"), (1, "1 row"), (2, "2 rows")])
def test_the_noun_agrees_with_the_number(number: int, text: str) -> None:
    assert amount(number, "row") == text


def test_a_plural_of_its_own() -> None:
    assert amount(2, "process", plural="processes") == "2 processes"
