"""The import in the background: done without a wait, and a failure left to the import that needs the module."""

import sys
from pathlib import Path

import pytest

from skyrl_train.rl.ahead import import_ahead

LIMIT_S = 60


def test_the_module_is_there_when_it_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "imported_ahead_of_its_use.py").write_text("VALUE = 5\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import_ahead("imported_ahead_of_its_use").join(LIMIT_S)
    assert sys.modules.pop("imported_ahead_of_its_use").VALUE == 5


def test_a_module_that_cannot_be_imported_is_no_error_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fails_at_its_import.py").write_text("raise OSError('no such library')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import_ahead("fails_at_its_import").join(LIMIT_S)  # pytest fails on an exception that a thread leaves
    with pytest.raises(OSError, match="no such library"):
        __import__("fails_at_its_import")
