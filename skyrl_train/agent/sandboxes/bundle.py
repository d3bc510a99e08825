"""Packs programs for sandboxes into one file that any Python can run: python -IS tools.zip DIRECTORY."""

import io
import zipfile
from pathlib import Path, PurePosixPath
from types import ModuleType

from skyrl_train.agent import inside

_MAIN = """\
import sys
from {module} import main
sys.exit(main(sys.argv[1:]))
"""


def pack(module: str, *packages: ModuleType) -> bytes:
    """A zip file that runs `main` of a module of these packages. Parent packages are empty, so that names are kept."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr("__main__.py", _MAIN.format(module=module))
        places = [PurePosixPath(*package.__name__.split(".")) for package in packages]
        for parent in sorted({parent for place in places for parent in place.parents if parent.name}):
            bundle.writestr(f"{parent}/__init__.py", "")
        for package, place in zip(packages, places, strict=True):
            for source in sorted(Path(package.__path__[0]).glob("*.py")):
                bundle.write(source, f"{place}/{source.name}")
    return made.getvalue()


def write_bundle(path: Path) -> Path:
    """Writes the agent's tools."""
    path.write_bytes(pack(f"{inside.__name__}.serve", inside))
    path.chmod(0o644)
    return path
