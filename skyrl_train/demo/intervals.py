"""A task: touching intervals are not merged. The model's first edit fails, since its text occurs twice."""

from skyrl_train.demo.task import REPOSITORY, DemoTask, call

_SOURCE = '''\
"""Closed intervals of numbers."""

Interval = tuple[int, int]


def overlap(a: Interval, b: Interval) -> bool:
    return a[0] < b[1] and b[0] < a[1]


def merged(intervals: list[Interval]) -> list[Interval]:
    """The same numbers in as few intervals as possible, in order."""
    result: list[Interval] = []
    for first, last in sorted(intervals):
        if result and first < result[-1][1]:
            result[-1] = (result[-1][0], last)
        else:
            result.append((first, last))
    return result
'''
_CONDITION = "        if result and first < result[-1][1]:\n            result[-1] = (result[-1][0], last)\n"
_MENDED_CONDITION = "        if result and first <= result[-1][1]:\n            result[-1] = (result[-1][0], max(last, result[-1][1]))\n"
_OVERLAP = "    return a[0] < b[1] and b[0] < a[1]\n"
_MENDED_OVERLAP = "    return a[0] <= b[1] and b[0] <= a[1]\n"

INTERVALS = DemoTask(
    name="intervals",
    problem=(
        "Intervals are closed, so (1, 3) and (3, 5) share the number 3: overlap() should be true for them, and merged()"
        " should give [(1, 5)]. An interval inside of another one shortens it: merged([(1, 9), (2, 3)]) gives [(1, 3)]."
    ),
    files={
        "intervals.py": _SOURCE,
        "tests/test_intervals.py": (
            "from intervals import merged, overlap\n\n\ndef test_apart() -> None:\n"
            "    assert not overlap((1, 2), (3, 4))\n    assert merged([(3, 4), (1, 2)]) == [(1, 2), (3, 4)]\n"
        ),
    },
    gold={
        "intervals.py": _SOURCE.replace(_CONDITION, _MENDED_CONDITION).replace(_OVERLAP, _MENDED_OVERLAP),
    },
    tests={
        "test_1.py": (
            "from intervals import merged, overlap\n\n\n"
            "class TestOverlap:\n    def test_apart(self) -> None:\n        assert not overlap((1, 2), (3, 4))\n\n"
            "    def test_touching(self) -> None:\n        assert overlap((1, 3), (3, 5))\n\n\n"
            "def test_touching() -> None:\n    assert merged([(3, 5), (1, 3)]) == [(1, 5)]\n\n\n"
            "def test_inside() -> None:\n    assert merged([(1, 9), (2, 3)]) == [(1, 9)]\n"
        )
    },
    expected={
        "TestOverlap.test_apart": "PASSED",
        "TestOverlap.test_touching": "PASSED",
        "test_touching": "PASSED",
        "test_inside": "PASSED",
    },
    replies=(
        call("file_editor", command="view", path=f"{REPOSITORY}/intervals.py"),
        "Both comparisons are too strict.\n\n"
        + call(
            "file_editor",
            command="str_replace",
            path=f"{REPOSITORY}/intervals.py",
            old_str=" < ",
            new_str=" <= ",
        ),
        "That text occurs several times. I replace the whole lines.\n\n"
        + call(
            "file_editor",
            command="str_replace",
            path=f"{REPOSITORY}/intervals.py",
            old_str=_CONDITION,
            new_str=_MENDED_CONDITION,
        ),
        call(
            "file_editor",
            command="str_replace",
            path=f"{REPOSITORY}/intervals.py",
            old_str=_OVERLAP,
            new_str=_MENDED_OVERLAP,
        ),
        call(
            "terminal",
            command=(
                ".venv/bin/python -m pytest -q tests && .venv/bin/python - <<'END'\nfrom intervals import merged\n"
                "print(merged([(1, 3), (3, 5)]), merged([(1, 9), (2, 3)]))\nEND"
            ),
        ),
        call("finish", message="overlap() and merged() take intervals as closed; the longer end is kept."),
    ),
)
