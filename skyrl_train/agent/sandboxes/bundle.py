"""Packs the tools into one file that any Python can run: python -IS tools.zip DIRECTORY."""

import zipfile
from pathlib import Path

from skyrl_train import agent
from skyrl_train.agent import inside

_MAIN = """\
import sys
from skyrl_train.agent.inside.serve import main
sys.exit(main(sys.argv[1:]))
"""


def write_bundle(path: Path) -> Path:
    """Writes the zip file, with empty parent packages, so that its modules keep their names."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr("__main__.py", _MAIN)
        for package in ("skyrl_train", "skyrl_train/agent"):
            bundle.writestr(f"{package}/__init__.py", "")
        for module in sorted(Path(inside.__path__[0]).glob("*.py")):
            bundle.write(module, module.relative_to(Path(agent.__path__[0]).parent.parent))
    path.chmod(0o644)
    return path
