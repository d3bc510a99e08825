"""sandboxd as one file: a zip archive that Python runs, the same bytes whenever and wherever one Python makes it.

The modules keep their places below the package, so that they import each other by the same names in the archive and
out of it. Their compiled forms, for the Python that makes the archive, lie beside them: they halve the start-up where
that Python is mounted too. Any other one compiles the text.
"""

import hashlib
import io
import os
import py_compile
import tempfile
import zipfile
from importlib import resources
from importlib.util import MAGIC_NUMBER
from pathlib import Path

NAME = "sandboxd.pyz"
_PACKAGE = "skyrl_train.sandbox.sandboxd"
_COMPILED = "compiled"
_START = """\
import sys
from _frozen_importlib_external import MAGIC_NUMBER

if MAGIC_NUMBER.hex() == "{magic}":
    sys.path.insert(0, sys.path[0] + "/{compiled}")
from {package}.main import main

raise SystemExit(main())
"""
_NOT_SHIPPED = ("bundle.py",)
_CONTRACT = "skyrl_train/contracts/sandboxd_api.py"
"""The one module outside of the package that it imports."""
_LONG_AGO = (1980, 1, 1, 0, 0, 0)


def zipapp_bytes() -> bytes:
    """Stored, not deflated: unpacking would cost more at every start than the disk that it saves."""
    files = {f"{_PACKAGE.replace('.', '/')}/{name}": text for name, text in _modules().items()}
    files[_CONTRACT] = resources.files("skyrl_train.contracts").joinpath("sandboxd_api.py").read_bytes()
    for package in ("skyrl_train", "skyrl_train/contracts", "skyrl_train/sandbox"):
        files[f"{package}/__init__.py"] = b""
    files |= {f"{_COMPILED}/{name}c": _compiled(name, text) for name, text in files.items()}
    start = _START.format(package=_PACKAGE, compiled=_COMPILED, magic=MAGIC_NUMBER.hex())
    files["__main__.py"] = start.encode()
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _LONG_AGO)
            entry.external_attr = 0o644 << 16
            entry.create_system = 3
            archive.writestr(entry, files[name])
    return written.getvalue()


def _compiled(name: str, text: bytes) -> bytes:
    """Valid whatever the times of files are: an archive's text never changes."""
    with tempfile.TemporaryDirectory() as directory:
        source, target = Path(directory, "source.py"), Path(directory, "compiled")
        source.write_bytes(text)
        mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
        py_compile.compile(str(source), str(target), dfile=name, doraise=True, invalidation_mode=mode)
        return target.read_bytes()


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
