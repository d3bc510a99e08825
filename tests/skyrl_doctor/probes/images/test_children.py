"""The programs that read datasets and logins, as they run."""

import json
from pathlib import Path

import pytest

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.images.supply import ImageSupply
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.probes.images.needed import needed_images
from skyrl_doctor.probes.images.supply import image_supply
from support import plan_of

ROWS = [
    {"docker_image": "a/bc:1", "problem_statement": "x" * 1000},
    {"instance": {"instance_id": "a/bd:1"}, "data_source": "r2e-gym"},
    {"docker_image": "a/bc:1"},
    {"nothing": 1},
]


def names(file: Path) -> tuple[list[str], int, int]:
    needed = needed_images(LocalMachine({}), plan_of(data__train_files=[str(file)]), Environ({}))
    return [image.name for image in needed.named], needed.rows, needed.without


def test_json_lines(tmp_path: Path) -> None:
    file = tmp_path / "d.jsonl"
    file.write_text("\n".join(map(json.dumps, ROWS)) + "\n\n")
    assert names(file) == (["a/bc:1", "a/bd:1"], 4, 1)


def test_parquet(tmp_path: Path) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "d.parquet"
    table = pyarrow.Table.from_pylist([{"extra_info": {"image": "docker.io/a/bc:1", "index": n}} for n in range(600)])
    parquet.write_table(table, file, row_group_size=100)
    assert names(file) == (["docker.io/a/bc:1"], 600, 0)


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("d.jsonl", "{", "does not read: JSONDecodeError"),
        ("d.txt", "x", "is neither parquet nor JSON lines"),
        ("d.parquet", "x", "does not read"),
    ],
)
def test_what_does_not_read_is_told(tmp_path: Path, name: str, text: str, why: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(CouldNotLook, match=why):
        names(tmp_path / name)


def test_names_of_registries_and_no_secret(tmp_path: Path) -> None:
    auth = tmp_path / "auth.json"
    auth.write_text('{"auths": {"docker.io": {"auth": "c2VjcmV0"}}, "credHelpers": {"ghcr.io": "x"}}')
    environ = {"REGISTRY_AUTH_FILE": str(auth), "PATH": "/usr/bin"}
    assert image_supply(LocalMachine(environ), plan_of(), Environ(environ)) == ImageSupply(
        logins=("docker.io", "ghcr.io")
    )


def test_an_archive_directory(tmp_path: Path) -> None:
    (tmp_path / "x.tar").touch()
    plan = plan_of(sandbox__image_archive=str(tmp_path))
    assert image_supply(LocalMachine({}), plan, Environ({})) == ImageSupply(
        archive=str(tmp_path), archives=frozenset({"x.tar"})
    )
