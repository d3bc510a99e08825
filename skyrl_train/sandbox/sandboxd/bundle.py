"""sandboxd as one file: a zip archive that Python runs, the same bytes whenever and wherever it is made.

The modules keep their places below the package, so that they import each other by the same names in the archive and
out of it.
"""

import hashlib
import io
import os
import zipfile
from importlib import resources
from pathlib import Path

NAME = "sandboxd.pyz"
_PACKAGE = "skyrl_train.sandbox.sandboxd"
_START = "from {package}.main import main\n\nraise SystemExit(main())\n"
_NOT_SHIPPED = ("bundle.py",)
_LONG_AGO = (1980, 1, 1, 0, 0, 0)


def zipapp_bytes() -> bytes:
    """Stored, not deflated: unpacking would cost more at every start than the disk that it saves."""
    files = {f"{_PACKAGE.replace('.', '/')}/{name}": text for name, text in _modules().items()}
    for package in ("skyrl_train", "skyrl_train/sandbox"):
        files[f"{package}/__init__.py"] = b""
    files["__main__.py"] = _START.format(package=_PACKAGE).encode()
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _LONG_AGO)
            entry.external_attr = 0o644 << 16
            entry.create_system = 3
            archive.writestr(entry, files[name])
    return written.getvalue()


def write_zipapp(directory: Path) -> Path:
    """Writes sandboxd into the directory, under a name that holds the hash of its bytes; one that is there is kept.

    Sandboxes of an older version may still run from its file: it is never written over.
    """
    content = zipapp_bytes()
    target = directory / f"sandboxd-{hashlib.sha256(content).hexdigest()[:16]}.pyz"
    if not target.exists():
        directory.mkdir(parents=True, exist_ok=True)
        half_done = target.with_suffix(f".{os.getpid()}.part")
        half_done.write_bytes(content)
        half_done.chmod(0o444)
        half_done.replace(target)
    return target


def _modules() -> dict[str, bytes]:
    here = resources.files(_PACKAGE)
    names = [entry.name for entry in here.iterdir() if entry.name.endswith(".py")]
    return {name: here.joinpath(name).read_bytes() for name in names if name not in _NOT_SHIPPED}
