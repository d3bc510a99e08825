"""Composes one call of a trainer as Hydra does: the entry point's configuration, the call's options, its overrides."""

import os.path
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from skyrl_doctor.core.record import record
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.plan.dialects.verl.command import Call
from skyrl_doctor.plan.dialects.verl.compose import Composition, Given
from skyrl_doctor.plan.dialects.verl.defaults import flat
from skyrl_doctor.plan.dialects.verl.entry_points import EntryPoint
from skyrl_doctor.plan.dialects.verl.tree import Entry, Files, OnDisk, Search, Written, hydra_main
from skyrl_doctor.plan.dialects.verl.versions import CONFIG, Verl
from skyrl_doctor.plan.model import Problem
from skyrl_doctor.plan.source import Source
from skyrl_doctor.plan.syntax.hydra import OverrideError, looks_like_override, parse
from skyrl_doctor.plan.syntax.hydra_defaults import Choice, Composed, ComposeError, Config, compose
from skyrl_doctor.plan.syntax.yaml import tree


class NoTreeError(ValueError):
    """The configuration of the call is not here, for the reason in the message."""


class Place:
    """Where a run finds files: the directories above its script, the nearest first."""

    def __init__(self, machine: Machine, folders: Sequence[str]) -> None:
        self._trees = [OnDisk(machine, folder) for folder in folders]
        self._root = OnDisk(machine, "/")

    def holding(self, path: str) -> tuple[Files, str] | None:
        """The nearest directory that holds this folder, or None. A checkout of verl-recipe is verl's folder `recipe`."""
        for name in dict.fromkeys((path, path.removeprefix("recipe/"))):
            for files in self._trees:
                if files.has_folder(name):
                    return files, name
        return None

    def nearest(self) -> list[tuple[Files, str]]:
        """The directory of the target."""
        return [(files, "") for files in self._trees[:1]]

    def absolute(self, path: str) -> tuple[Files, str] | None:
        """An absolute folder. If it is not here, its longest end below a directory above the script."""
        path = os.path.normpath(path).lstrip("/")
        if self._root.has_folder(path):
            return self._root, path
        parts = path.split("/")
        ends = ("/".join(parts[at:]) for at in range(len(parts) - 1))
        return next((found for end in ends if (found := self.holding(end)) is not None), None)

    def own_entry(self, entry: EntryPoint) -> tuple[Files, Entry, str] | None:
        """The configuration of a trainer outside of verl, from its file, and the folder of that file."""
        for files, folder, text in self._programs(entry):
            found = hydra_main(text, folder)
            if found is not None:
                return files, found, folder
        return None

    def program(self, entry: EntryPoint) -> str | None:
        """The source of a trainer outside of verl; None if it is not here."""
        return next((text for _, folder, text in self._programs(entry) if hydra_main(text, folder) is not None), None)

    def _programs(self, entry: EntryPoint) -> Iterator[tuple[Files, str, str]]:
        """The files that may be this module, the nearest first: their tree, their folder and their text."""
        path = entry.module.replace(".", "/")
        for files in self._trees:
            for name in dict.fromkeys((path, path.removeprefix("recipe/"))):
                text = files.text(f"{name}.py")
                if text is not None:
                    yield files, name.rpartition("/")[0], text


@dataclass(slots=True)
class _Start:
    """The tree of the main configuration, its folder and name."""

    files: Files
    folder: str
    name: str


def composed_run(call: Call, verl: Verl, place: Place) -> Composition:
    """The configuration of a call over one verl. Raises NoTreeError if its files are not here."""
    start = _start(call, verl, place)
    search, problems = Search(((start.files, start.folder),)), list[Problem]()
    try:
        main = search.load(start.name)
        if main is None:
            raise NoTreeError(f"there is no {start.folder}/{start.name}.yaml in {verl.label}")
        places, missing = _searchpath(call, main.body, verl, place)
        search = search.with_places(places)
        made, groups = _composed(call, search, start.name, verl, problems)
    except ComposeError as error:
        raise NoTreeError(f"{start.folder}/{start.name}.yaml: {error}") from None
    if problems and missing:
        raise NoTreeError(f"the folder {missing} of Hydra's search path is not here")
    made.tree.pop("hydra", None)
    composition = Composition.of(dict(flat(made.tree)), verl.source)
    composition.label, composition.is_known = verl.label, verl.is_known
    if all(
        files is not verl.files for files, _ in search.places
    ):  # a file of the program's own, whatever verl it runs on
        composition.label, composition.is_known = f"{start.folder}/{start.name}.yaml", True
    composition.problems, composition.refused = problems, len(problems)
    for given in call.overrides:
        if given not in groups:
            composition.apply(given)
    return composition


def open_run(call: Call) -> Composition:
    """What a call writes, where its tree is not here: no key is checked and no default is known."""
    composition = Composition(is_open=True)
    for given in call.overrides:
        composition.apply(given)
    return composition


def defaults_of(source: Source, verl: Verl, place: Place) -> dict[str, Any]:
    """What a YAML's defaults list composes, without the file's own values. Raises ComposeError."""
    written = tree(source)
    config = Config.of(source.text, written)
    if not config.defaults:
        return {}
    own = _Only(Config(config.package, config.defaults, {}))
    search = Search(((own, ""), *place.nearest(), (verl.files, CONFIG)))
    hydra = written.get("hydra")
    paths = _listed(hydra.get("searchpath") if isinstance(hydra, dict) else None)
    search = search.with_places(found for path in paths if (found := _of_path(path, verl, place)) is not None)
    made = compose(search, _Only.NAME).tree
    made.pop("hydra", None)
    return made


@record
class _Only:
    """A tree of one file, the target."""

    NAME: ClassVar[str] = "the target"
    config: Config

    def load(self, path: str) -> Config | None:
        return self.config if path == self.NAME else None

    def has_folder(self, path: str) -> bool:  # noqa: ARG002 -- the protocol's
        return False

    def entry(self, module: str) -> Entry | None:  # noqa: ARG002 -- the protocol's
        return None


def _listed(paths: object) -> list[str]:
    return [str(path) for path in paths] if isinstance(paths, list) else []


def _start(call: Call, verl: Verl, place: Place) -> _Start:
    entry, base = call.entry, call.entry.folder
    found = verl.files.entry(entry.module) if entry.is_of_verl else None
    files: Files = verl.files
    if found is None:
        own = place.own_entry(entry)
        if own is None:
            raise NoTreeError(_absent(entry, verl))
        files, found, base = own
    named = call.options.get("name")
    if named is not None and named.unknown:
        raise NoTreeError(f"--config-name {named.text}: {named.unknown}")
    files, folder = _in_verl(files, found.folder, verl)
    start = _Start(files, folder, call.config_name or found.name)
    option = call.options.get("path")
    if option is not None:
        written = _written_folder(call, option.text)
        start.files, start.folder = written or _folder(option, files, verl, place, base=base)
    return start


def _written_folder(call: Call, path: str) -> tuple[Files, str] | None:
    """The folder of files that the script itself writes; None if it writes none there."""
    written, folder = Written(call.written), path.rstrip("/")
    return (written, folder) if written.has_folder(folder) else None


def _in_verl(files: Files, folder: str, verl: Verl) -> tuple[Files, str]:
    """`../verl/trainer/config`, beside the tree of a recipe, is verl's own."""
    return (verl.files, folder.removeprefix("../")) if folder.startswith("../verl/") else (files, folder)


def _absent(entry: EntryPoint, verl: Verl) -> str:
    if entry.is_of_verl:
        return f"{verl.label} has no {entry.module}"
    return "its file is not in a directory above the script"


def _folder(option: Given, files: Files, verl: Verl, place: Place, *, base: str) -> tuple[Files, str]:
    """The tree and folder of --config-path: absolute, or relative to the entry point's file."""
    text = option.text
    if text.startswith("pkg://"):
        return verl.files, text.removeprefix("pkg://").replace(".", "/")
    if not option.unknown and not os.path.isabs(text):
        return _in_verl(files, os.path.normpath(os.path.join(base, text)), verl)
    end = text[text.index("/") :] if "/" in text else ""
    found = place.absolute(text if not option.unknown else end) if end else None
    if found is None and "/verl/" in end:
        found = verl.files, end[end.index("/verl/") + 1 :]
    if found is None:
        raise NoTreeError(f"--config-path {text}: {option.unknown or 'no such folder'}")
    return found


def _searchpath(call: Call, main: Mapping[str, Any], verl: Verl, place: Place) -> tuple[list[tuple[Files, str]], str]:
    """The further folders, of --config-dir and of hydra.searchpath, and the first path that is not here."""
    folder = call.options.get("folder")
    paths = [] if folder is None else [folder.text]
    hydra = main.get("hydra")
    listed = _listed(hydra.get("searchpath") if isinstance(hydra, dict) else None)
    for given in call.overrides:
        if given.text.lstrip("+").startswith("hydra.searchpath="):
            try:
                listed = _listed(parse(given.text).value)
            except OverrideError:
                listed = [given.text]
    places = [(path, _written_folder(call, path) or _of_path(path, verl, place)) for path in (*paths, *listed)]
    missing = next((path for path, found in places if found is None), "")
    return [found for _, found in places if found is not None], missing


def _of_path(path: str, verl: Verl, place: Place) -> tuple[Files, str] | None:
    """The tree and folder of an entry of Hydra's search path; None if the folder is not here."""
    scheme, separator, rest = path.partition("://")
    path = rest if separator else path
    if scheme == "pkg" and separator:
        path = path.replace(".", "/")
    if os.path.isabs(path):
        return place.absolute(path)
    path = os.path.normpath(path)
    if path.startswith("verl/"):
        return (verl.files, path) if verl.files.has_folder(path) else None
    return place.holding(path)


def _composed(
    call: Call, search: Search, name: str, verl: Verl, problems: list[Problem]
) -> tuple[Composed, Sequence[Given]]:
    """The merged tables with the call's choices, and the overrides that are choices. A choice at fault is left out."""
    pairs = [(choice, given) for given in call.overrides if (choice := _choice(given, search)) is not None]
    left = list(pairs)
    while True:
        try:
            made = compose(search, name, [choice for choice, _ in left])
        except ComposeError as error:
            fault = next((pair for pair in left if error.key and pair[0].key == error.key), None)
            if fault is None:
                raise
            left.remove(fault)
            problems.append(_refused(*fault, f"{verl.label}: {fault[0].label}: {error}", verl))
            continue
        problems.extend(
            _refused(choice, given, f"{verl.label} has no group {choice.key}; to add it use +{choice.label}", verl)
            for choice, given in left
            if choice in made.unused
        )
        return made, [given for _, given in pairs]


def _choice(given: Given, search: Search) -> Choice | None:
    """The choice of a group that an override is, or None."""
    if not looks_like_override(given.text):
        return None
    key = given.text.lstrip("+~").partition("=")[0].partition("@")[0]
    if "." in key or key.startswith("hydra/") or not search.has_group(key):
        return None
    if given.unknown:
        raise ComposeError(f"{given.text}: {given.unknown}")
    try:
        override = parse(given.text)
    except OverrideError:
        return None
    if isinstance(override.value, dict):
        return None
    key = override.key if override.package is None else f"{override.key}@{override.package}"
    return Choice(key, override.value, override.mode)


def _refused(choice: Choice, given: Given, message: str, verl: Verl) -> Problem:
    location = given.location
    named = type(location)(location.file, location.line, choice.key)
    return Problem(message=message, location=named, fatal=verl.is_known)
