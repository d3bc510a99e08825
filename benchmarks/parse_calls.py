"""How fast replies are parsed, in MB of text a second: short turns, one long value, and hostile text.

python benchmarks/parse_calls.py
"""

import time

from skyrl_train.contracts.agent.call_parser import parse_call

SOURCE = "def add(a: int, b: int) -> int:\n    if a < b:\n        return b + a\n    return a + b\n\n\n"
TURN = (
    "<think>The test fails because the comparison is inverted. I look at the file and then mend it.</think>\n"
    "I replace the comparison.\n\n<function=file_editor>\n<parameter=command>str_replace</parameter>\n"
    f"<parameter=path>/testbed/add.py</parameter>\n<parameter=old_str>\n{SOURCE * 4}</parameter>\n"
    f"<parameter=new_str>\n{SOURCE * 6}</parameter>\n</function>"
)
TEXTS = {
    "turns of 1 kB": TURN,
    "the same, tag by tag stripped": TURN.removesuffix("</function>"),
    "prose of 100 kB, no call": "The comparison is a < b, which is inverted. " * 2_300,
    "one value of 10 MB": TURN.replace(SOURCE * 6, SOURCE * 120_000),
    "hostile: open functions": "<function=" * 100_000,
    "hostile: open values in thinking": "<function=f>\n<parameter=p></think>" * 100_000,
    "hostile: closing tags": "<function=f>\n<parameter=p>" + "</parameter> x" * 100_000,
    "hostile: a value of brackets": "<function=f>\n<parameter=p>" + "<" * 1_000_000,
}


def megabytes_per_second(text: str, *, rounds: int = 20, seconds: float = 0.05) -> float:
    """The best of some rounds: other work on the machine can only make a round slower."""
    return max(_one_round(text, seconds) for _ in range(rounds))


def _one_round(text: str, seconds: float) -> float:
    parsed, begin = 0, time.process_time()
    while (spent := time.process_time() - begin) < seconds:
        parse_call(text)
        parsed += len(text)
    return parsed / spent / 1e6


if __name__ == "__main__":
    for name, text in TEXTS.items():
        print(f"{name:36}{megabytes_per_second(text):10.0f} MB/s")
