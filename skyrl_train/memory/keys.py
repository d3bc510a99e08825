"""Typed reading of a flat mapping of dotted keys. BadJobError names the key of an invalid value."""

import re
from collections.abc import Mapping
from typing import TypeVar

from skyrl_train.memory.errors import BadJobError, UnsupportedJobError

TRUE, FALSE, NONE = ("true", "yes", "on"), ("false", "no", "off"), ("null", "none", "~")
WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
RESHARDS = ("default", "always", "never")
N = TypeVar("N", int, float)


def or_default(value: N | None, default: N) -> N:
    return default if value is None else value


class Keys:
    """Values may be parsed, or texts from a command line. null counts as unset.

    An empty text counts as an unset name, and is an invalid number.
    """

    def __init__(self, values: Mapping[str, object]) -> None:
        self._values = {key.lstrip("+"): value for key, value in values.items()}

    def raw(self, *names: str) -> tuple[str, object] | None:
        """The first of these keys that is set, with its value."""
        for name in names:
            value = self._values.get(name)
            if value is not None and not (isinstance(value, str) and value.strip().lower() in NONE):
                return name, value.strip() if isinstance(value, str) else value
        return None

    def under(self, prefix: str) -> bool:
        """Whether a table or a key in it is set."""
        return self.raw(prefix) is not None or any(key.startswith(f"{prefix}.") for key in self._values)

    def is_null(self, name: str) -> bool:
        """Whether the key is written without a value."""
        return name in self._values and self.raw(name) is None

    def integer(self, *names: str) -> int | None:
        found = self.raw(*names)
        if found is None:
            return None
        name, value = found
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, str) and WHOLE.fullmatch(value):
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise BadJobError(f"{name} is {value!r}; expected a whole number")
        return value

    def number(self, *names: str) -> float | None:
        found = self.raw(*names)
        if found is None:
            return None
        name, value = found
        try:
            if isinstance(value, bool) or not isinstance(value, int | float | str):
                raise ValueError
            return float(value)
        except (ValueError, OverflowError):
            raise BadJobError(f"{name} is {value!r}; expected a number") from None

    def flag(self, *names: str, default: bool = False) -> bool:
        found = self.raw(*names)
        if found is None:
            return default
        name, value = found
        if isinstance(value, str):
            value = True if value.lower() in TRUE else False if value.lower() in FALSE else value
        if not isinstance(value, bool):
            raise BadJobError(f"{name} is {value!r}; expected true or false")
        return value

    def refuse_kept_layers(self, key: str) -> None:
        """UnsupportedJobError if FSDP keeps every gathered layer from its forward to its backward pass, by this key.

        A number is the size of the smaller mesh that FSDP2 uses; torchtitan's words are those of RESHARDS.
        """
        found = self.raw(key)
        value = "" if found is None else str(found[1]).lower()
        reshards = value != "never" if value.isdigit() or value in RESHARDS else self.flag(key, default=True)
        if not reshards:
            raise UnsupportedJobError(
                f"{key} is {value}, which keeps all layers gathered; the memory model does not support that; set it to "
                f"{'always' if value == 'never' else 'true'} for a rough figure"
            )

    def text(self, *names: str) -> str | None:
        found = self.raw(*names)
        if found is None or found[1] == "":
            return None
        if not isinstance(found[1], str):
            raise BadJobError(f"{found[0]} is {found[1]!r}; expected a string")
        return found[1]
