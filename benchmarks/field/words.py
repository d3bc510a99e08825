"""Compares the words of our shell reader with those that bash built."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.field.doctor import OurWord
from benchmarks.field.launches import Launch


@dataclass(frozen=True)
class Difference:
    """A word that differs. `ours` is None if we lack it, `bash` if bash has no such word."""

    program: str
    ours: str | None
    bash: str | None


@dataclass(frozen=True)
class Words:
    """The result of one comparison."""

    equal: int = 0
    unknown: int = 0
    differences: tuple[Difference, ...] = ()

    def __add__(self, other: "Words") -> "Words":
        return Words(self.equal + other.equal, self.unknown + other.unknown, (*self.differences, *other.differences))


def compared(launches: Sequence[Launch], commands: Sequence[Sequence[OurWord]]) -> Words:
    """Compares each launch with the command of ours that starts the same program and is most like it."""
    total = Words()
    for launch in launches:
        tails = [tail for command in commands if (tail := _after(command, launch.program)) is not None]
        if not tails:
            total += Words(differences=(Difference(launch.program, None, "(the whole command)"),))
            continue
        total += min((_compared(launch, tail) for tail in tails), key=lambda words: len(words.differences))
    return total


def _after(command: Sequence[OurWord], program: str) -> list[OurWord] | None:
    at = next((index for index, word in enumerate(command) if word.text == program), None)
    return None if at is None else list(command[at + 1 :])


def _compared(launch: Launch, ours: list[OurWord]) -> Words:
    """Word by word. An unknown word of ours is right if what is known of it is: the key before the equals sign."""
    differences, equal, unknown = [], 0, 0
    left = list(launch.arguments)
    for word in ours:
        match = _match(word, left)
        if match is None:
            differences.append(Difference(launch.program, f"{word.text}{' ?' if word.unknown else ''}", None))
            continue
        left.remove(match)
        equal, unknown = (equal, unknown + 1) if word.unknown else (equal + 1, unknown)
    differences += [Difference(launch.program, None, word) for word in left]
    return Words(equal, unknown, tuple(differences))


def _match(word: OurWord, left: list[str]) -> str | None:
    if not word.unknown:
        return word.text if word.text in left else None
    key, equals, _ = word.text.partition("=")
    if not equals:
        return left[0] if left else None
    return next((bash for bash in left if bash.startswith(f"{key}=")), None)
