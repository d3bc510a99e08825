from collections.abc import Iterator
from pathlib import Path

import pytest

from sandboxd_process import Sandboxd, running


@pytest.fixture(scope="module")
def sandboxd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandboxd]:
    """One process for the tests of a module; they leave it as they found it."""
    with running(tmp_path_factory.mktemp("sandboxd")) as process:
        yield process


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Sandboxd]:
    """One of the test's own."""
    with running(tmp_path) as process:
        yield process
