"""The options of one #SBATCH line, which may hold several, or of the words behind sbatch itself."""

import re
import shlex
from collections.abc import Iterator

LINE, COMMAND = "#SBATCH", "#sbatch"
"""What a line of options begins with: one of the script, and one that holds an option of sbatch's own command line."""
_SHORT = re.compile(r"(-[A-Za-z])([^-=\s]\S*)")
"""`-N2`, a short option with its value."""


def options(line: str) -> Iterator[tuple[str, str]]:
    """Name and value of each option; nothing where a quote is not closed."""
    try:
        words = shlex.split(line.removeprefix(LINE).removeprefix(COMMAND), comments=True)
    except ValueError:
        return
    for index, word in enumerate(words):
        short = _SHORT.fullmatch(word)
        if short is not None:
            yield short[1], short[2]
            continue
        name, equals, value = word.partition("=")
        if word.startswith("-"):
            yield name, value if equals else (words[index + 1] if index + 1 < len(words) else "")
