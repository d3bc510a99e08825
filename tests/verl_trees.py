"""Trees of verl on the disk for tests: an installation, an editable one, a checkout."""

import json
from pathlib import Path
from typing import Any

from skyrl_doctor.plan.dialects.verl.releases import release


def write_tree(root: Path, version: str) -> Path:
    """The configuration files and entry points of a release below `root`."""
    found = release(version)
    assert found is not None
    for path in found.files:
        config = found.load(path)
        assert config is not None
        header = "" if config.package is None else f"# @package {config.package}\n"
        body: dict[str, Any] = dict(config.body)
        if config.defaults:
            body = {"defaults": list(config.defaults), **body}
        write(root / f"{path}.yaml", header + json.dumps(body))
    for module, (folder, name) in found.entries.items():
        path = module.replace(".", "/")
        up = "/".join([".."] * path.count("/"))
        write(
            root / f"{path}.py",
            f'@hydra.main(config_path="{up}/{folder}", config_name="{name}")\ndef main(config): ...\n',
        )
    return root


def install(prefix: Path, version: str, *, editable: Path | None = None) -> Path:
    """The interpreter of an environment with this verl. An editable one has its tree elsewhere."""
    packages = prefix / "lib/python3.12/site-packages"
    info = packages / f"verl-{version}.dist-info"
    if editable is None:
        write_tree(packages, version)
        write(info / "METADATA", "")
    else:
        write(info / "direct_url.json", json.dumps({"url": editable.as_uri(), "dir_info": {"editable": True}}))
    write(prefix / "bin/python", "")
    return prefix / "bin/python"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
