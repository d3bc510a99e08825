"""What lies at some paths of images that are kept as archives (docker save, OCI layout): their layers' lists, read in order.

    archive_paths.py SECONDS PATH,PATH… ARCHIVE…

A path is told as "dir", "file" or "" for nothing; one that is reached through a link is not told at all.
"""

import os
import sys

if sys.path and sys.path[0] == os.path.dirname(os.path.abspath(__file__)):
    del sys.path[0]

import json
import tarfile
import time

HIDES, HIDES_ALL = ".wh.", ".wh..wh..opq"
MOST_BYTES = 16 << 20


class LateError(Exception):
    pass


def text_of(tar, name):
    file = tar.extractfile(name)
    if file is None:
        raise ValueError(name + " is no file")
    return json.loads(file.read(MOST_BYTES))


def blob(digest):
    return "blobs/" + str(digest).replace(":", "/", 1)


def layers_of(tar):
    """The members that are layers, lowest first."""
    names = set(tar.getnames())
    if "manifest.json" in names:
        return [str(name) for name in text_of(tar, "manifest.json")[0]["Layers"]]
    found = text_of(tar, "index.json")
    for _ in range(4):  # an index may name an index
        if "layers" in found:
            return [blob(layer["digest"]) for layer in found["layers"]]
        found = text_of(tar, blob(found["manifests"][0]["digest"]))
    raise ValueError("its index names no layers")


def above(path):
    """The path and the directories that it lies in, without a slash at the front."""
    parts = path.strip("/").split("/")
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]


def look(archive, paths, end_at):
    found = dict.fromkeys(paths, "")
    links = set()  # type: set[str]
    with tarfile.open(archive) as tar:
        for name in layers_of(tar):
            file = tar.extractfile(name)
            if file is None:
                raise ValueError(name + " is no file")
            with tarfile.open(fileobj=file) as layer:
                read(layer, found, links, end_at)
    return {path: kind for path, kind in found.items() if not links & set(above(path))}


def read(layer, found, links, end_at):
    """One layer. What it hides lies below it, whatever the order of its entries."""
    seen = {}  # type: dict[str, str]
    hidden, emptied = set(), set()
    wants = [path.strip("/") for path in found]
    for entry in layer:
        if time.monotonic() > end_at:
            raise LateError
        place = os.path.normpath(entry.name).strip("/")
        directory, _, name = place.rpartition("/")
        if name == HIDES_ALL:
            emptied.add(directory)
        elif name.startswith(HIDES):
            hidden.add((directory + "/" + name[len(HIDES) :]).strip("/"))
        elif entry.issym():
            links.add(place)
        else:
            held = [wanted for wanted in wants if (place + "/").startswith(wanted + "/")]
            seen.update((wanted, "file" if wanted == place and not entry.isdir() else "dir") for wanted in held)
        layer.members = []  # an image has a hundred thousand files
    for path in found:
        chain = above(path)
        if hidden & set(chain) or emptied & set(chain[:-1]):
            found[path] = ""
        found[path] = seen.get(path.strip("/"), found[path])


def main():
    seconds, paths, *archives = sys.argv[1:]
    end_at, told = time.monotonic() + float(seconds), []
    for archive in archives:
        try:
            told.append({"archive": archive, "paths": look(archive, paths.split(","), end_at)})
        except LateError:
            break
        except (
            OSError,
            EOFError,
            tarfile.TarError,
            ValueError,
            KeyError,
            IndexError,
            TypeError,
            RecursionError,
        ) as error:
            told.append({"archive": archive, "why": type(error).__name__ + ": " + str(error)[:200]})
    sys.stdout.write(json.dumps({"archives": told}) + "\n")


main()
