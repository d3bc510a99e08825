"""Says of files and directories whether each can be an image archive (docker save, OCI layout), from its first bytes and its index.

    archive_index.py SECONDS DIRECTORY NAME…

Prints how many were read, which of them `podman load` would refuse, and which this program cannot judge. Layers are not
read: of a tar only the headers, of a compressed one at most the first MOST_PACKED bytes.
"""

import os
import sys

if sys.path and sys.path[0] == os.path.dirname(os.path.abspath(__file__)):
    del sys.path[0]

import contextlib
import io
import json
import shutil
import stat
import subprocess
import tarfile
import time

MOST_PACKED, MOST_ENTRIES, MOST_JSON, HEAD = 16 << 20, 10_000, 4 << 20, 16
PACKED = {b"\x1f\x8b\x08": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
DOCKER, OCI = "manifest.json", "index.json"


class BadError(Exception):
    """No image archive. The text says why."""


class UnreadError(Exception):
    """This program cannot judge the archive. The text says why."""


class EnoughError(Exception):
    """The start of a large compressed archive is sound."""


class LateError(Exception):
    """The time is over."""


DECIDED = (BadError, UnreadError, EnoughError, LateError)


class Bounded(io.RawIOBase):
    """A file of which only so much is read, in so much time."""

    def __init__(self, file, end_at):
        super().__init__()
        self.file, self.end_at, self.left = file, end_at, MOST_PACKED

    def readable(self):
        return True

    def readinto(self, buffer):
        in_time(self.end_at)
        if self.left <= 0:
            raise EnoughError
        found = self.file.read(len(buffer))
        buffer[: len(found)] = found
        self.left -= len(found)
        return len(found)


def in_time(end_at):
    if time.monotonic() > end_at:
        raise LateError


def judge(path, end_at):
    """Returns if the path can be an image archive."""
    in_time(end_at)
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        judge_directory(path)
    elif not stat.S_ISREG(mode):
        raise BadError("is neither a file nor a directory")
    else:
        with open(path, "rb") as file:
            judge_file(file, path, end_at)


def judge_directory(path):
    """A directory may hold an OCI layout, or one image as `skopeo copy … dir:` writes it."""
    for name, reads in ((OCI, blobs_of_index), (DOCKER, layers_of_directory)):
        place = os.path.join(path, name)
        if os.path.isfile(place):
            with open(place, "rb") as file:
                index = read_json(file, name)
            try:
                wanted = reads(index)
            except (KeyError, TypeError, AttributeError):
                raise BadError("is a directory with an unknown form of " + name) from None
            if any(os.path.exists(os.path.join(path, each)) for each in wanted):
                return
            raise BadError("is a directory, and its " + name + " names no file in it")
    raise BadError("is a directory without " + OCI + ", so it is not an OCI layout")


def judge_file(file, path, end_at):
    head = file.read(HEAD)
    file.seek(0)
    packer = packer_of(head)
    if not head:
        raise BadError("is empty")
    if not packer:
        judge_plain(file, head, end_at)
        return
    try:
        with unpacked(Bounded(file, end_at), path, packer, end_at) as stream:
            if packer_of(stream.peek(HEAD)):
                raise UnreadError("is packed twice")
            with tarfile.open(fileobj=stream, mode="r|") as tar:
                judge_tar(tar, end_at)
    except EnoughError:
        return
    except DECIDED:
        raise
    except Exception as error:
        if getattr(error, "errno", None) is not None:
            raise
        raise BadError("is cut off or damaged, or holds no tar") from None


def packer_of(head):
    return next((name for magic, name in PACKED.items() if head.startswith(magic)), "")


def judge_plain(file, head, end_at):
    try:
        with tarfile.open(fileobj=file, mode="r:") as tar:
            judge_tar(tar, end_at)
    except tarfile.ReadError:  # judge_tar raises none
        raise BadError("is " + kind_of(head)) from None


def kind_of(head):
    if head.lstrip().startswith(b"<"):
        return "an HTML or XML page, not a tar"
    if all(letter in b"\t\n\r" or 32 <= letter < 127 for letter in head):
        return "text, not a tar"
    return "neither a tar nor one packed with " + ", ".join(PACKED.values())


def unpacked(file, path, packer, end_at):
    """The decompressed file. These readers accept several streams one after the other, which tarfile's own do not."""
    try:
        if packer == "gzip":
            import gzip

            return gzip.GzipFile(fileobj=file)
        if packer == "bzip2":
            import bz2

            return bz2.BZ2File(file)
        if packer == "xz":
            import lzma

            return lzma.LZMAFile(file)
    except ImportError:
        raise UnreadError("is packed with " + packer + ", which this Python cannot read") from None
    return unpacked_by_zstd(path, end_at)


@contextlib.contextmanager
def unpacked_by_zstd(path, end_at):
    """The output of the program: Python reads zstd from 3.14 on."""
    program = shutil.which("zstd")
    if program is None:
        raise UnreadError("is packed with zstd, but PATH has no zstd program")
    child = subprocess.Popen(
        (program, "-dcq", "--", path), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    stream = child.stdout
    assert stream is not None
    try:
        yield io.BufferedReader(Bounded(stream, end_at))
    finally:
        child.kill()
        stream.close()
        child.wait()


def judge_tar(tar, end_at):
    """Returns if the index of the tar names what the tar has."""
    names, texts, last = set(), {}, ""
    try:
        for entry in tar:
            in_time(end_at)
            last = os.path.normpath(entry.name)
            if last in (DOCKER, OCI) and entry.isfile():
                texts[last] = read_json(tar.extractfile(entry), last)
            names.add(last)
            tar.members = []  # saves memory
            if len(names) > MOST_ENTRIES:
                raise UnreadError("has more than " + str(MOST_ENTRIES) + " entries")
    except (tarfile.ReadError, EOFError):
        raise BadError("is cut off or damaged after its entry " + last) from None
    judge_index(names, texts)


def judge_index(names, texts):
    if not texts:
        raise BadError("is a tar with neither " + DOCKER + " nor " + OCI + ", so no image was saved into it")
    try:
        if OCI in texts and any(name in names for name in blobs_of_index(texts[OCI])):
            return
        wanted = layers_of_docker(texts[DOCKER]) if DOCKER in texts else blobs_of_index(texts[OCI])
    except (KeyError, TypeError, AttributeError):
        raise BadError("has an unknown form of " + " and ".join(sorted(texts))) from None
    lacking = [name for name in wanted if name not in names]
    if lacking or not wanted:
        raise BadError("lacks " + lacking[0] + ", which its index names" if wanted else "names no image in its index")


def read_json(file, name):
    text = file.read(MOST_JSON)
    if len(text) == MOST_JSON:
        raise UnreadError("has more in its " + name + " than " + str(MOST_JSON >> 20) + " MiB")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise BadError("does not have JSON in its " + name) from None


def blobs_of_index(index):
    return ["blobs/" + str(one["digest"]).replace(":", "/", 1) for one in index["manifests"]]


def layers_of_docker(images):
    return [os.path.normpath(str(name)) for image in images for name in (image["Config"], *image["Layers"])]


def layers_of_directory(manifest):
    return [str(one["digest"]).rpartition(":")[2] for one in manifest["layers"]]


def main():
    seconds, directory, *names = sys.argv[1:]
    end_at, read = time.monotonic() + float(seconds), 0
    bad, unread = {}, {}
    for name in names:
        try:
            judge(os.path.join(directory, name), end_at)
        except LateError:
            break
        except BadError as error:
            bad[name] = str(error)
        except UnreadError as error:
            unread[name] = str(error)
        except PermissionError:
            bad[name] = "cannot be read: permission denied"
        except FileNotFoundError:
            bad[name] = "is a link to a file that does not exist"
        except OSError as error:
            unread[name] = "cannot be read: " + str(error.strerror or error)
        except MemoryError:
            unread[name] = "is too large to read"
        read += 1
    sys.stdout.write(json.dumps({"read": read, "bad": bad, "unread": unread}) + "\n")


main()
