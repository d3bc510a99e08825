"""What ~ stands for in a path of the plan."""

from collections.abc import Mapping

from skyrl_doctor.core.errors import CouldNotLook


def expanded(path: str, environ: Mapping[str, str]) -> str:
    if path != "~" and not path.startswith("~/"):
        return path
    if not environ.get("HOME"):
        raise CouldNotLook(f"{path}: HOME is not set, so ~ means nothing")
    return environ["HOME"] + path[1:]
