"""An image of one task, as a registry's archive: shell, Python with pytest, /testbed, /r2e_tests. No network, no Podman.

It is put together out of this machine's own programs, so that a real test run needs no distribution of its own.
"""

import hashlib
import io
import json
import os
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Callable, Mapping
from importlib.metadata import distribution
from pathlib import Path

from skyrl_train.contracts.sandbox.references import parse_reference
from skyrl_train.contracts.sandbox.supply import archive_stem
from skyrl_train.demo.seed import write_seed
from skyrl_train.demo.task import DemoTask
from skyrl_train.sandbox.mounted_python import ask_python, copy_python, run_tool

PYTEST = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")
PATH = "/usr/bin:/bin"


def write_archive(
    directory: Path, name: str, task: DemoTask, *, tests: bool = True, more: Callable[[Path], None] = lambda _root: None
) -> Path:
    """The archive of the image, by the name that it is looked for in a directory of archives."""
    with tempfile.TemporaryDirectory() as at:
        root = Path(at)
        write_seed(task, root, python="/usr/bin/python3")
        if not tests:
            shutil.rmtree(root / "r2e_tests")
        more(root)
        _programs(root)
        path = directory / f"{archive_stem(parse_reference(name))}.tar"
        _save(root, path, name, {"Env": [f"PATH={PATH}"], "WorkingDir": "/testbed", "Cmd": ["/bin/sh"]})
    return path


def _programs(root: Path) -> None:
    executable, library, version = ask_python(sys.executable)
    copy_python(root / "usr", executable, library, version=version)
    libraries = root / "usr" / "libs"
    site = root / "usr" / "lib" / f"python{version.rpartition('.')[0]}" / "site-packages"
    for name in PYTEST:
        _copy_distribution(name, site)
    (root / "bin").mkdir()
    for program in ("busybox", "bash"):
        found = shutil.which(program)
        assert found is not None, f"{program} is not installed"
        shutil.copy2(found, root / "bin" / program)
        for line in run_tool(["ldd", found], accept_failure=True).splitlines():
            for word in line.split():
                if word.startswith("/"):
                    shutil.copy2(os.path.realpath(word), libraries / os.path.basename(word))
    for applet in run_tool([str(root / "bin" / "busybox"), "--list"]).split():
        if not (root / "bin" / applet).exists():
            (root / "bin" / applet).symlink_to("busybox")
    for place in ("lib", "lib64"):  # where loaders look, and where they lie themselves
        (root / place).symlink_to("usr/libs")
    for place in ("tmp", "root", "etc"):
        (root / place).mkdir(exist_ok=True)
    (root / "tmp").chmod(0o1777)
    (root / "etc" / "passwd").write_text("root:x:0:0:root:/root:/bin/bash\n")


def _copy_distribution(name: str, site: Path) -> None:
    found = distribution(name)
    for file in found.files or ():
        if ".." not in file.parts and "__pycache__" not in file.parts:
            target = site / str(file)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(str(file.locate()), target)


def _save(root: Path, path: Path, name: str, config: Mapping[str, object]) -> None:
    """As `docker save` writes it: one layer, the image's configuration, and what names both."""
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as tar:
        for entry in sorted(root.iterdir()):
            tar.add(entry, arcname=entry.name, filter=_of_root)
    data = layer.getvalue()
    digest = hashlib.sha256(data).hexdigest()
    described = {
        "architecture": "amd64" if os.uname().machine == "x86_64" else "arm64",
        "os": "linux",
        "config": dict(config),
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
        "history": [{"created": "2026-01-01T00:00:00Z"}],
    }
    text = json.dumps(described).encode()
    named = f"{hashlib.sha256(text).hexdigest()}.json"
    manifest = [{"Config": named, "RepoTags": [name], "Layers": ["layer.tar"]}]
    with tarfile.open(path, "w") as tar:
        for entry, content in ((named, text), ("layer.tar", data), ("manifest.json", json.dumps(manifest).encode())):
            info = tarfile.TarInfo(entry)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))


def _of_root(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.uid = info.gid = 0
    info.uname = info.gname = "root"
    return info
