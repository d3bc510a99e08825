"""Which parameters of a model server's model a weight sync left as they were. Pure: names only.

The figures of a fixed text (weight_proof) hardly change if one layer of many is missing; the names say it at once.
"""

import re
from collections.abc import Iterable, Set
from dataclasses import dataclass

LAYER = re.compile(r"(?:^|\.)(?:layers|blocks|h)\.\d+\.")
SHOWN = 3


@dataclass(slots=True)
class Received:
    """The parameters that were loaded in the first sync, with which later ones are compared."""

    first: frozenset[str] = frozenset()

    def fault(self, parameters: Iterable[str], loaded: Set[str]) -> str | None:
        """What is missing. A first sync may leave single parameters, which some models compute, but no whole layer."""
        if not loaded:  # a model whose loader does not say what it loaded
            return None
        missing = self.first - loaded if self.first else names_of(layers_without(parameters, loaded))
        if missing:
            shown = ", ".join(sorted(missing)[:SHOWN])
            return (
                f"TRN021: model server: a weight sync left {len(missing)} parameters as they were: {shown}"
                f"{', …' if len(missing) > SHOWN else ''}. The trainer did not send them, or by names that the server does "
                "not know"
            )
        self.first = frozenset(loaded)
        return None


def layers_without(parameters: Iterable[str], loaded: Set[str]) -> dict[str, list[str]]:
    """The layers of which no parameter was loaded: prefix -> its parameters."""
    layers: dict[str, list[str]] = {}
    for name in parameters:
        if found := LAYER.search(name):
            layers.setdefault(name[: found.end()], []).append(name)
    return {prefix: names for prefix, names in layers.items() if loaded.isdisjoint(names)}


def names_of(layers: dict[str, list[str]]) -> frozenset[str]:
    return frozenset(name for names in layers.values() for name in names)
