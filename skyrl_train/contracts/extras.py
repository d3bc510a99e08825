"""How to install what an optional command needs. The package index may not have this project, so the parts are named."""

import shlex
import sys

PACKAGE = "skyrl-doctor"


def install(extra: str, *, python: str = sys.executable) -> str:
    """The command that installs the packages of an extra into the Python that runs this."""
    packages = needed(extra)
    words = [python, "-m", "pip", "install", *(packages or [f"{PACKAGE}[{extra}]"])]
    return shlex.join(words)


def needed(extra: str) -> list[str]:
    """The requirements of an extra, without those of this project, as the installed package states them."""
    from importlib.metadata import PackageNotFoundError, requires  # 20 ms, and few need it

    try:
        stated = requires(PACKAGE) or []
    except PackageNotFoundError:
        return []
    found = (text.partition(";") for text in stated)
    return [name.strip() for name, _, marker in found if _is_of(extra, marker) and not name.startswith(PACKAGE)]


def _is_of(extra: str, marker: str) -> bool:
    return f"extra == '{extra}'" in marker.replace('"', "'")
