"""An installation of contrib/slurm."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

CONTRIB = Path(__file__).parents[3] / "contrib" / "slurm"


@pytest.fixture
def site() -> Iterator[Path]:
    """The scripts in a directory that every user may enter, unlike pytest's own."""
    with tempfile.TemporaryDirectory(prefix="site", dir="/tmp") as name:
        Path(name).chmod(0o755)
        at = Path(name) / "skyrl"
        shutil.copytree(CONTRIB, at)
        for path in (at, *at.iterdir()):
            path.chmod(0o755)
        yield at
