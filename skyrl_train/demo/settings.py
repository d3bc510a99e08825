"""A task: values with an equals sign are cut. The model needs a persistent shell: it changes directory and sets a variable."""

from skyrl_train.demo.task import REPOSITORY, DemoTask, call

_SOURCE = '''\
"""Settings as KEY=VALUE lines."""


class SettingsError(ValueError):
    """A line that is not a setting."""


def load(text: str) -> dict[str, str]:
    settings = {}
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        parts = line.split("=")
        if len(parts) < 2:
            raise SettingsError(f"line {number}: no '='")
        settings[parts[0].strip()] = parts[1].strip()
    return settings
'''
_OLD = """\
        parts = line.split("=")
        if len(parts) < 2:
            raise SettingsError(f"line {number}: no '='")
        settings[parts[0].strip()] = parts[1].strip()
"""
_NEW = """\
        key, equals, value = line.partition("=")
        if not equals:
            raise SettingsError(f"line {number}: no '='")
        settings[key.strip()] = value.strip()
"""

SETTINGS = DemoTask(
    name="settings",
    problem="load('URL=http://host/?a=1') gives {'URL': 'http://host/?a'}: what follows a second '=' is lost.",
    files={
        "src/settings/__init__.py": "",
        "src/settings/reader.py": _SOURCE,
        "conftest.py": "import pathlib\nimport sys\n\nsys.path.insert(0, str(pathlib.Path(__file__).parent / 'src'))\n",
        "tests/test_reader.py": (
            "from settings.reader import load\n\n\ndef test_comments() -> None:\n"
            "    assert load('# none\\nA = 1 # one\\n') == {'A': '1'}\n"
        ),
    },
    gold={"src/settings/reader.py": _SOURCE.replace(_OLD, _NEW)},
    tests={
        "test_1.py": (
            "import pytest\n\nfrom settings.reader import SettingsError, load\n\n\n"
            "def test_equals_in_a_value() -> None:\n    assert load('URL=http://host/?a=1') == {'URL': 'http://host/?a=1'}\n\n\n"
            "def test_empty_value() -> None:\n    assert load('A=') == {'A': ''}\n\n\n"
            "def test_no_setting() -> None:\n    with pytest.raises(SettingsError, match='line 2'):\n        load('A=1\\nB')\n"
        )
    },
    expected={"test_equals_in_a_value": "PASSED", "test_empty_value": "PASSED", "test_no_setting": "PASSED"},
    replies=(
        call("terminal", command=f"cd {REPOSITORY}/src && export PYTHONPATH=$PWD && grep -n '' settings/reader.py"),
        call("think", thought="Splitting at the first equals sign only keeps the others in the value."),
        call(
            "file_editor",
            command="str_replace",
            path=f"{REPOSITORY}/src/settings/reader.py",
            old_str=_OLD,
            new_str=_NEW,
        ),
        "The shell is still in src, with PYTHONPATH set.\n\n"
        + call(
            "terminal", command="../.venv/bin/python -c \"import settings.reader as r; print(r.load('URL=a?b=1'))\""
        ),
        call("terminal", command="cd .. && .venv/bin/python -m pytest -q tests"),
        call("finish", message="load() splits a line at its first equals sign."),
    ),
)
