"""Numbers with their noun."""


def amount(number: int, noun: str, *, plural: str = "") -> str:
    """`1 row`, `2 rows`. Pass the plural of a noun that takes more than an s."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"
