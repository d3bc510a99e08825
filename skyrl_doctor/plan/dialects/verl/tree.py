"""Configuration trees of verl on a machine, and the search path that Hydra makes of several trees."""

import functools
import os.path
import re
from collections.abc import Iterable, Mapping
from typing import Protocol

from skyrl_doctor.core.errors import CouldNotLook, UsageError
from skyrl_doctor.core.record import record
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.plan.source import Source, decode
from skyrl_doctor.plan.syntax.hydra_defaults import ComposeError, Config
from skyrl_doctor.plan.syntax.yaml import tree

LIMIT_BYTES = 1 << 20
_KEPT = 256
_HYDRA_MAIN = re.compile(r"@(?:hydra\.main|hydra_main)\((?P<arguments>[^)]{0,500})\)")
_NAMED_PATH = re.compile(r"config_path\s*=\s*(?P<name>[A-Za-z_]\w*)\s*(?:,|$)")
_FROM_VERL = re.compile(
    r"^from (?P<package>verl(?:\.\w+)*)\.\w+ import (?P<names>[^#\n(]{1,500}|\([^)]{1,500}\))", re.MULTILINE
)
_COMMENT = re.compile(r"(?m)(?:^|(?<=\s))#.*$")
_ARGUMENT = re.compile(r"""(?P<name>config_path|config_name)\s*=\s*["'](?P<value>[^"']*)["']""")


@record
class Entry:
    """The configuration of an entry point: its folder, from the root of the package, and its name."""

    folder: str
    name: str


class Files(Protocol):
    """The files of one tree by path without suffix: `verl/trainer/config/ppo_trainer`."""

    def load(self, path: str) -> Config | None: ...

    def has_folder(self, path: str) -> bool: ...

    def entry(self, module: str) -> Entry | None:
        """The configuration that a module of the tree composes; None if the tree has no such entry point."""


class OnDisk:
    """A tree below a directory of a machine. Each file is read once."""

    def __init__(self, machine: Machine, root: str) -> None:
        self._machine = machine
        self.root = root
        self._read: dict[str, Config | None] = {}

    def load(self, path: str) -> Config | None:
        """A file that cannot be read or parsed is a ComposeError."""
        if path not in self._read:
            self._read[path] = self._config(f"{path}.yaml")
        return self._read[path]

    def has_folder(self, path: str) -> bool:
        try:
            return self._machine.stat(self._at(path)).kind == "dir"
        except CouldNotLook:
            return False

    def entry(self, module: str) -> Entry | None:
        path = module.replace(".", "/")
        text = self.text(f"{path}.py")
        return None if text is None else hydra_main(text, path.rpartition("/")[0])

    def _config(self, path: str) -> Config | None:
        text = self.text(path)
        return None if text is None else config_of(path, text)

    def text(self, path: str) -> str | None:
        """The text of a file, or None if it cannot be read."""
        try:
            data = self._machine.read_bytes(self._at(path), limit_bytes=LIMIT_BYTES)
            return decode(path, data)
        except (CouldNotLook, UsageError):
            return None

    def _at(self, path: str) -> str:
        return os.path.normpath(os.path.join(self.root, path))


@record
class Written:
    """The files that a script writes before it starts the run, by path."""

    texts: Mapping[str, str]

    def load(self, path: str) -> Config | None:
        text = self.texts.get(f"{path}.yaml")
        return None if text is None else config_of(f"{path}.yaml", text)

    def has_folder(self, path: str) -> bool:
        return any(name.startswith(f"{path}/") for name in self.texts)

    def entry(self, module: str) -> Entry | None:  # noqa: ARG002 -- the protocol's
        return None


@functools.lru_cache(maxsize=_KEPT)  # the scripts of a checkout all compose the same few files
def config_of(path: str, text: str) -> Config:
    """The configuration of a file's text. Raises ComposeError."""
    try:
        return Config.of(text, tree(Source(path, text)))
    except UsageError as error:
        raise ComposeError(str(error).removeprefix("target ")) from None


@record
class Search:
    """Hydra's search path: trees and the folder in each, the first that has a file wins."""

    places: tuple[tuple[Files, str], ...]

    def load(self, path: str) -> Config | None:
        return next((found for files, folder in self.places if (found := files.load(_join(folder, path)))), None)

    def has_group(self, group: str) -> bool:
        return any(files.has_folder(_join(folder, group)) for files, folder in self.places)

    def with_places(self, more: Iterable[tuple[Files, str]]) -> "Search":
        return Search((*self.places, *more))


def without_comments(text: str) -> str:
    """The code of a Python file: a condition in a comment is none."""
    return _COMMENT.sub("", text)


def hydra_main(text: str, folder: str) -> Entry | None:
    """The configuration that the decorator of a Python file names; `folder` holds the file."""
    found = _HYDRA_MAIN.search(text)
    if found is None:
        return None
    named = {argument["name"]: argument["value"] for argument in _ARGUMENT.finditer(found["arguments"])}
    if "config_name" not in named:
        return None
    name = named["config_name"].removesuffix(".yaml")
    path = named.get("config_path") or _path_from_verl(text, found["arguments"]) or "."
    return Entry(path if path.startswith("../verl/") else os.path.normpath(os.path.join(folder, path)), name)


def _path_from_verl(text: str, arguments: str) -> str | None:
    """The folder beside a module of verl from which the file imports the variable of its config_path."""
    variable = _NAMED_PATH.search(arguments)
    if variable is None:
        return None
    imports = (one for one in _FROM_VERL.finditer(text) if variable["name"] in re.findall(r"\w+", one["names"]))
    return next((f"../{one['package'].replace('.', '/')}/config" for one in imports), None)


def _join(folder: str, path: str) -> str:
    return os.path.normpath(f"{folder}/{path}" if folder else path)
