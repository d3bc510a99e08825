"""The form of POST /build: a directory as a compressed archive in base64, the image's name, and further names.

`context_archive` unpacks the archive; `build_recipe` reads its recipe.
"""

import base64
import binascii
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from skyrl_train.contracts.sandbox.references import parse_reference
from skyrl_train.sandbox.request_rules import BodyRules, array, text
from skyrl_train.sandbox.runtime.build_recipe import MOST_RECIPE, problems
from skyrl_train.sandbox.runtime.context_archive import ArchiveError, TooLargeError, unpack
from skyrl_train.sandbox.runtime.refusals import RefusedError
from skyrl_train.sandbox.runtime.requests import read_body
from skyrl_train.sandbox.sandboxd.http import HttpError
from skyrl_train.sandbox.sandboxd.multipart import each_part
from skyrl_train.sandbox.start_request import IMAGE

LARGEST_FORM = 512 << 20
_LONGEST_WORD, _MOST_TAGS, _MOST_PARTS = 512, 20, 64
_CONTEXT = text("the directory to build in, as a packed archive in base64")
FORM = BodyRules(
    required={"context": _CONTEXT, "target_image": IMAGE}, optional={"tags": array(IMAGE, most=_MOST_TAGS)}
)
_RECIPES = ("Dockerfile", "Containerfile")
_FOUR = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildForm:
    """`directory`: the unpacked files. `recipe`: the Dockerfile among them."""

    image: str
    tags: tuple[str, ...]
    directory: str
    recipe: str
    content: str
    """The hash of the directory's files; the archive's own hash would depend on its time of packing."""


def read_form(body: Path, content_type: str, place: Path) -> BuildForm:
    """Unpacks into `place`. Raises RefusedError."""
    archive = place / "context.tar.gz"
    try:
        with open(body, "rb") as file:
            words = _read_parts(file, content_type, archive)
    except HttpError as error:
        raise RefusedError(error.status, str(error)) from error
    if len(words["target_image"]) > 1:
        raise RefusedError(400, f"target_image: expected one, found {len(words['target_image'])}")
    given = {"target_image": next(iter(words["target_image"]), None), "tags": words["tags"]}
    values = read_body(FORM, {**given, "context": "" if archive.exists() else None})
    image, *tags = (str(parse_reference(name)) for name in (values["target_image"], *dict.fromkeys(values["tags"])))
    directory = place / "context"
    _unpack(archive, directory)
    archive.unlink()
    recipe = _read_recipe(directory)
    return BuildForm(image=image, tags=tuple(tags), directory=str(directory), recipe=recipe, content=_hash(directory))


def _read_parts(file: BinaryIO, content_type: str, archive: Path) -> dict[str, list[str]]:
    """Reads the text fields; writes the archive into a file."""
    words: dict[str, list[str]] = {"target_image": [], "tags": []}
    for count, (fields, content) in enumerate(each_part(file.read, content_type), 1):
        if count > _MOST_PARTS:  # each costs time, and 512 MiB have room for millions
            raise RefusedError(400, f"the form has more than {_MOST_PARTS} parts")
        name = fields.get("name", "")
        if name == "context":
            _decode(content, archive)
        elif name in words:
            words[name].append(_word(content, name))
    return words


def _word(content: Iterator[bytes], name: str) -> str:
    text = b""
    for part in content:
        text += part
        if len(text) > _LONGEST_WORD:
            raise RefusedError(400, f"{name}: expected at most {_LONGEST_WORD} bytes")
    return text.decode("utf-8", "replace")


def _decode(content: Iterator[bytes], target: Path) -> None:
    rest = b""
    try:
        with open(target, "wb") as file:
            for part in content:
                text = rest + part.translate(None, b"\r\n")
                whole = len(text) - len(text) % _FOUR
                file.write(base64.b64decode(text[:whole], validate=True))
                rest = text[whole:]
        if rest:
            raise binascii.Error(f"{len(rest)} characters are left over")
    except binascii.Error as error:
        raise RefusedError(400, f"context: not base64: {error}") from error


def _unpack(archive: Path, directory: Path) -> None:
    try:
        unpack(archive, directory)
    except TooLargeError as error:
        raise RefusedError(413, f"context: {error}") from error
    except (ArchiveError, OSError) as error:
        raise RefusedError(400, f"context: cannot be unpacked: {str(error)[:300]}") from error


def _read_recipe(directory: Path) -> str:
    """The name of the recipe, if its content is accepted."""
    name = next((one for one in _RECIPES if (directory / one).is_file() and not (directory / one).is_symlink()), None)
    if name is None:
        raise RefusedError(400, f"context: has no {' or '.join(_RECIPES)}")
    with open(directory / name, "rb") as file:
        text = file.read(MOST_RECIPE + 1)
    problem = next(problems(text), None)
    if problem is not None:
        raise RefusedError(400, f"context: {name}: {problem}")
    return name


def _hash(directory: Path) -> str:
    made = hashlib.sha256()
    for path in sorted(directory.rglob("*")):
        found = path.lstat()
        made.update(os.fsencode(path.relative_to(directory)) + f"\0{found.st_mode:o}\0{found.st_size}\0".encode())
        if path.is_symlink():
            made.update(os.fsencode(os.readlink(path)))
        elif path.is_file():
            with open(path, "rb") as file:
                made.update(hashlib.file_digest(file, "sha256").digest())
    return made.hexdigest()
