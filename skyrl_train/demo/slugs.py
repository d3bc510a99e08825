"""A task: a slug begins with a hyphen. A failing test shows it, an edit fixes it."""

from skyrl_train.demo.task import REPOSITORY, DemoTask, call

_SOURCE = '''\
"""Names for addresses."""

import re


def slug(title: str) -> str:
    """Small letters and digits, with one hyphen where anything else stood."""
    return re.sub(r"[^a-z0-9]", "-", title.lower())
'''
_MENDED = _SOURCE.replace(
    're.sub(r"[^a-z0-9]", "-", title.lower())', 're.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")'
)

SLUGS = DemoTask(
    name="slugs",
    problem="slug('Hello,  World!') gives 'hello---world-'. It should give 'hello-world': one hyphen, none at the ends.",
    files={
        "slugs/__init__.py": "",
        "slugs/names.py": _SOURCE,
        "tests/test_names.py": (
            "from slugs.names import slug\n\n\ndef test_one_word() -> None:\n    assert slug('Word') == 'word'\n"
        ),
    },
    gold={"slugs/names.py": _MENDED},
    tests={
        "test_1.py": (
            "import pytest\n\nfrom slugs.names import slug\n\n\n"
            "@pytest.mark.parametrize(('title', 'name'), [('Word', 'word'), ('a b', 'a-b'), ('Hello,  World!', 'hello-world')])\n"
            "def test_slug(title: str, name: str) -> None:\n    assert slug(title) == name\n\n\n"
            "def test_nothing_is_left_of_signs() -> None:\n    assert slug('?!') == ''\n"
        )
    },
    expected={
        "test_slug[Word-word]": "PASSED",
        "test_slug[a b-a-b]": "PASSED",
        "test_slug[Hello,  World!-hello-world]": "PASSED",
        "test_nothing_is_left_of_signs": "PASSED",
    },
    replies=(
        "I look at the repository first.\n\n" + call("terminal", command="ls -R slugs tests && cat slugs/names.py"),
        "Each sign becomes a hyphen of its own, and the ends keep theirs.\n\n"
        + call(
            "file_editor",
            command="str_replace",
            path=f"{REPOSITORY}/slugs/names.py",
            old_str='return re.sub(r"[^a-z0-9]", "-", title.lower())',
            new_str='return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")',
        ),
        "Now I try it.\n\n"
        + call(
            "terminal",
            command=(
                ".venv/bin/python -c \"from slugs.names import slug; print(slug('Hello,  World!'))\""
                " && .venv/bin/python -m pytest -q tests"
            ),
        ),
        call("finish", message="slug() replaces other characters by one hyphen and removes hyphens at the ends."),
    ),
)
