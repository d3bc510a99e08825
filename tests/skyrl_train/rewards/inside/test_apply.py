"""The changes of an agent, some of them made up, in a new sandbox."""

import base64
import os
import zlib
from pathlib import Path
from typing import Any

from skyrl_train.rewards.inside.apply import apply, installed_modules


def entry(path: str, text: str = "new", **more: Any) -> dict[str, Any]:
    return {"path": path, "data": base64.b64encode(zlib.compress(text.encode())).decode(), **more}


def repository(place: Path) -> Path:
    root = place / "testbed"
    for name in ("pkg/__init__.py", "pkg/a.py", "pkg/deep/b.py", "tests/test_a.py", "setup.cfg"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    (root / "linked").symlink_to("pkg")
    return root


ALL = ["pkg/__init__.py", "pkg/a.py", "pkg/deep/b.py", "tests/test_a.py", "setup.cfg", "linked"]


def applied(root: Path, *files: dict[str, Any], paths: list[str] | None = None) -> tuple[list[str], list[str]]:
    done = apply(str(root), {"paths": ALL if paths is None else paths, "files": files, "left_out": []}, frozenset())
    return done.changed, done.ignored


def test_files_are_written_replaced_and_deleted(tmp_path: Path) -> None:
    root = repository(tmp_path)
    paths = [path for path in ALL if path != "pkg/deep/b.py"]
    changed, ignored = applied(root, entry("pkg/a.py", executable=True), entry("pkg/new/c.py"), paths=paths)
    assert (changed, ignored) == (["pkg/deep/b.py", "pkg/a.py", "pkg/new/c.py"], [])
    assert ((root / "pkg/a.py").read_text(), (root / "pkg/new/c.py").read_text()) == ("new", "new")
    assert [oct(os.stat(root / name).st_mode & 0o7777) for name in ("pkg/a.py", "pkg/new/c.py")] == ["0o755", "0o644"]
    assert not (root / "pkg/deep").exists()


def test_tests_and_their_configuration_are_neither_written_nor_deleted(tmp_path: Path) -> None:
    root = repository(tmp_path)
    before = {path: path.read_text() for path in root.rglob("*") if path.is_file()}
    changed, ignored = applied(root, entry("tests/test_a.py"), entry("conftest.py"), paths=[*ALL[:3], "linked"])
    assert (changed, ignored) == ([], ["setup.cfg", "tests/test_a.py", "tests/test_a.py", "conftest.py"])
    assert {path: path.read_text() for path in root.rglob("*") if path.is_file()} == before


def test_nothing_is_written_outside_or_through_a_link(tmp_path: Path) -> None:
    root = repository(tmp_path)
    made_up = [
        entry("../x"),
        entry("/x"),
        entry("pkg/../../x"),
        entry("linked/x"),
        {"path": "up", "link": ".."},
        {"path": "pkg/up", "link": "../.."},
        {"path": "away", "link": "/etc"},
        {"path": "venv2", "link": ".venv/bin"},
        entry("pkg/a.py/x"),
        entry("pkg"),
        {"path": "nothing"},
        {"path": "bad", "data": "*"},
    ]
    changed, ignored = applied(root, *made_up)
    assert (changed, len(ignored)) == ([], len(made_up))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["testbed"]
    assert not (root / "pkg/x").exists()


def test_a_link_inside_is_made_and_not_followed(tmp_path: Path) -> None:
    root = repository(tmp_path)
    changed, ignored = applied(root, {"path": "pkg/c.py", "link": "a.py"}, entry("pkg/c.py/d"), entry("linked"))
    assert (changed, ignored) == (["pkg/c.py", "linked"], ["pkg/c.py/d"])
    assert (root / "pkg/a.py").read_text() == "pkg/a.py"
    assert (root / "linked").is_file()


def test_a_bomb_is_cut(tmp_path: Path) -> None:
    root = repository(tmp_path)
    changed, _ = applied(root, entry("pkg/big.bin", "x" * (40 << 20)))
    assert changed == ["pkg/big.bin"]
    assert (root / "pkg/big.bin").stat().st_size == 16 << 20


def test_modules_of_the_library_and_of_packages_are_known(tmp_path: Path) -> None:
    (tmp_path / ".venv/lib/python3.9/site-packages/numpy").mkdir(parents=True)
    assert {"numpy", "re", "sys", "pytest", "socket"} <= installed_modules(str(tmp_path))
