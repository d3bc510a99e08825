"""Looks up paths in images that are stored as archives (docker save, OCI layout), from the lists of their layers.

    archive_paths.py SECONDS PATH,PATH… ARCHIVE…

Prints "dir", "file" or "" (missing) for each path, and leaves out a path that is reached through a link. An archive and
each of its layers may be compressed in any form that tarfile or zstd reads. An OCI layout may be a directory.
"""

import os
import sys

if sys.path and sys.path[0] == os.path.dirname(os.path.abspath(__file__)):
    del sys.path[0]

import contextlib
import json
import shutil
import subprocess
import tarfile
import threading
import time

HIDES, HIDES_ALL = ".wh.", ".wh..wh..opq"
MOST_BYTES, BLOCK = 16 << 20, 1 << 20
ZSTD = b"\x28\xb5\x2f\xfd"
WRONG = (OSError, EOFError, tarfile.TarError, ValueError, KeyError, IndexError, TypeError, RecursionError)


class LateError(Exception):
    pass


@contextlib.contextmanager
def opened(file, ahead):
    """The tar, and whether it is a stream. A compressed tar is a stream, and so is a tar inside one; others are seekable."""
    tar = None if ahead else plain(file)
    if tar is not None:
        with tar:
            yield tar, False
        return
    with unpacked(file) as stream, tarfile.open(fileobj=stream, mode="r|*", bufsize=BLOCK) as tar:
        yield tar, True


def plain(file):
    try:
        return tarfile.open(fileobj=file, mode="r:")
    except tarfile.ReadError:
        file.seek(0)
        return None


@contextlib.contextmanager
def unpacked(file):
    """The file, decompressed if it is zstd: tarfile supports zstd only from Python 3.14 on, so the program is used."""
    if file.peek(len(ZSTD))[: len(ZSTD)] != ZSTD:
        yield file
        return
    program = shutil.which("zstd")
    if program is None:
        raise ValueError("it is packed with zstd, but PATH has no zstd program")
    child = subprocess.Popen(
        (program, "-dcq"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    feeder = threading.Thread(target=feed, args=(file, child.stdin))
    feeder.start()
    stream = child.stdout
    assert stream is not None
    try:
        yield stream
        while stream.read(BLOCK):  # drain what follows the tar, so that the feeder has finished with the file
            pass
        if child.wait():
            raise ValueError("its zstd data is truncated or damaged")
    finally:
        child.kill()
        feeder.join()
        stream.close()
        child.wait()


def feed(file, sink):
    with contextlib.suppress(OSError, ValueError), sink:  # the reader has closed the pipe
        shutil.copyfileobj(file, sink, BLOCK)


def members(archive):
    """Yields the name of each file, the file itself or its link target, and whether it is a stream."""
    if os.path.isdir(archive):
        yield from in_directory(archive)
        return
    with open(archive, "rb") as file, opened(file, ahead=False) as (tar, ahead):
        for entry in tar:
            name = os.path.normpath(entry.name)
            if entry.issym():
                yield name, os.path.normpath(os.path.join(os.path.dirname(name), entry.linkname)), ahead
            elif entry.islnk():
                yield name, os.path.normpath(entry.linkname), ahead
            elif entry.isfile():
                yield name, tar.extractfile(entry), ahead


def in_directory(path):
    for name in (os.path.join(where, name) for where, _, names in os.walk(path) for name in names):
        with open(name, "rb") as file:
            yield os.path.relpath(name, path), file, False


def layer_names(texts):
    """The names of the layers, lowest first."""
    if "manifest.json" in texts:
        return [os.path.normpath(str(name)) for name in texts["manifest.json"][0]["Layers"]]
    found = texts["index.json"]
    for _ in range(4):  # an index may refer to another index
        if "layers" in found:
            return [blob(layer["digest"]) for layer in found["layers"]]
        found = texts[blob(found["manifests"][0]["digest"])]
    raise ValueError("its index names no layers")


def blob(digest):
    return "blobs/" + str(digest).replace(":", "/", 1)


def with_parents(path):
    """The path and its parent directories, without a leading slash."""
    parts = path.strip("/").split("/")
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]


def find_paths(archive, paths, end_at):
    texts, layers, links = {}, {}, {}
    relative = [path.strip("/") for path in paths]
    for name, held, ahead in members(archive):
        if isinstance(held, str):
            links[name] = held
        elif held.peek(1)[:1] in (b"{", b"["):
            texts[name] = read_json(held)
        else:
            layers[name] = read_layer(held, relative, ahead, end_at)
    found, symbolic = dict.fromkeys(paths, ""), set()
    for name in layer_names(texts):
        layer = layers[links.get(name, name)]
        if isinstance(layer, Exception):
            raise layer
        layer.apply_to(found)
        symbolic |= layer.links
    return {path: kind for path, kind in found.items() if not symbolic & set(with_parents(path))}


def read_json(file):
    """The JSON value; None if the file only starts like one."""
    try:
        return json.loads(file.read(MOST_BYTES))
    except (ValueError, RecursionError):
        return None


def read_layer(file, paths, ahead, end_at):
    """The layer, or the error if the file is not one. Which files are layers is known only at the end."""
    try:
        with opened(file, ahead) as (tar, _):
            return Layer(tar, paths, end_at)
    except WRONG as error:
        return error


class Layer:
    """The entries of one layer at the paths, the entries that it hides in lower layers, and its links."""

    def __init__(self, tar, paths, end_at):
        self.seen, self.hidden, self.emptied, self.links = {}, set(), set(), set()
        for entry in tar:
            if time.monotonic() > end_at:
                raise LateError
            self.add(entry, paths)
            tar.members = []  # saves memory: an image has a hundred thousand files

    def add(self, entry, paths):
        place = os.path.normpath(entry.name).strip("/")
        directory, _, name = place.rpartition("/")
        if name == HIDES_ALL:
            self.emptied.add(directory)
        elif name.startswith(HIDES):
            self.hidden.add((directory + "/" + name[len(HIDES) :]).strip("/"))
        elif entry.issym():
            self.links.add(place)
        else:
            held = [path for path in paths if (place + "/").startswith(path + "/")]
            self.seen.update((path, "file" if path == place and not entry.isdir() else "dir") for path in held)

    def apply_to(self, found):
        for path in found:
            chain = with_parents(path)
            if self.hidden & set(chain) or self.emptied & set(chain[:-1]):
                found[path] = ""
            found[path] = self.seen.get(path.strip("/"), found[path])


def main():
    seconds, paths, *archives = sys.argv[1:]
    end_at, results = time.monotonic() + float(seconds), []
    for archive in archives:
        try:
            results.append({"archive": archive, "paths": find_paths(archive, paths.split(","), end_at)})
        except LateError:
            break
        except WRONG as error:
            results.append({"archive": archive, "why": type(error).__name__ + ": " + str(error)[:200]})
    sys.stdout.write(json.dumps({"archives": results}) + "\n")


main()
