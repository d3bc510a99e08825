"""Archives of images and logins of registries."""

from pathlib import Path

from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.images.supply import ImageSupply, image_supply
from skyrl_doctor.machine.local import LocalMachine
from support import plan_of


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
