"""Our reader of entry points against importlib.metadata."""

import importlib.metadata
import re
from pathlib import Path

import pytest

from skyrl_doctor.core.entry_points import EntryPoint, entry_points


@pytest.mark.parametrize(
    "group", ["skyrl_doctor.checks", "skyrl_doctor.probes", "console_scripts", "pytest11", "no.such.group"]
)
def test_finds_what_the_standard_library_finds_in_this_environment(group: str) -> None:
    found = {(point.distribution, point.name, point.module) for point in entry_points(group)}
    expected = {
        (re.sub(r"[-_.]+", "-", point.dist.name).lower(), point.name, point.module)
        for point in importlib.metadata.entry_points(group=group)
        if point.dist is not None
    }
    assert found == expected


def distribution(root: Path, name: str, text: str | bytes | None) -> None:
    directory = root / f"{name}-1.0.dist-info"
    directory.mkdir(parents=True)
    if text is not None:
        (directory / "entry_points.txt").write_bytes(text if isinstance(text, bytes) else text.encode())


def test_the_first_on_the_path_counts_and_odd_files_are_passed_over(tmp_path: Path) -> None:
    group = "[skyrl_doctor.checks]\n"
    distribution(
        tmp_path / "a", "site_extra", f"; comment\n[other]\nx = y\n{group}\none = a.b : thing [extra]\nbroken\n= z\n"
    )
    distribution(tmp_path / "b", "Site.Extra", f"{group}two = c\n")
    distribution(tmp_path / "b", "binary", b"\xff\xfe[skyrl_doctor.checks]\nx = y\n")
    distribution(tmp_path / "b", "none", None)
    path = [str(tmp_path / "gone"), str(tmp_path / "a"), str(tmp_path / "b")]
    assert entry_points("skyrl_doctor.checks", path) == (EntryPoint("one", "a.b", "site-extra"),)
    assert entry_points("skyrl_doctor.checks", path[:1:-1]) == (EntryPoint("two", "c", "site-extra"),)
