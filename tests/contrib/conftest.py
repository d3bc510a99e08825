"""The fixtures of the site scripts' tests."""

from pathlib import Path

import pytest

from contrib.site_node import Node, install


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return install(tmp_path)
