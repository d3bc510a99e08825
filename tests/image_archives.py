"""Image archives of every kind that `podman load` reads, and files that only look like one."""

import bz2
import gzip
import hashlib
import io
import json
import lzma
import os
import tarfile
from collections.abc import Sequence
from pathlib import Path


def tar(entries: Sequence[tuple[str, bytes]]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as made:
        for name, content in entries:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            made.addfile(info, io.BytesIO(content))
    return out.getvalue()


def gz(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _described(kind: str, content: bytes) -> dict[str, object]:
    media = f"application/vnd.oci.image.{kind}"
    return {"mediaType": media, "digest": f"sha256:{_digest(content)}", "size": len(content)}


def _text(value: object) -> bytes:
    return json.dumps(value).encode()


LAYER = tar([("etc/hello", bytes(40_000))])
IMAGE_CONFIG = _text(
    {
        "architecture": "amd64",
        "os": "linux",
        "config": {},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{_digest(LAYER)}"]},
    }
)
NAME = "localhost/x:1"
MANIFEST = _text([{"Config": "config.json", "RepoTags": [NAME], "Layers": ["layer.tar"]}])
SAVED = [("layer.tar", LAYER), ("config.json", IMAGE_CONFIG), ("manifest.json", MANIFEST)]
OCI_MANIFEST = _text(
    {
        "schemaVersion": 2,
        "config": _described("config.v1+json", IMAGE_CONFIG),
        "layers": [_described("layer.v1.tar", LAYER)],
    }
)
INDEX = _text({"schemaVersion": 2, "manifests": [_described("manifest.v1+json", OCI_MANIFEST)]})
LAYOUT = [
    *((f"blobs/sha256/{_digest(blob)}", blob) for blob in (LAYER, IMAGE_CONFIG, OCI_MANIFEST)),
    ("oci-layout", b'{"imageLayoutVersion": "1.0.0"}'),
    ("index.json", INDEX),
]
DOCKER, OCI = tar(SAVED), tar(LAYOUT)
PAGE = b"<!DOCTYPE html>\n<html><body>Please log in.</body></html>\n" * 20
NO_IMAGE = "is a tar with neither manifest.json nor index.json, so no image was saved into it"
CUT_PACKED = "is cut off or damaged, or holds no tar"

GOOD = {
    "docker": DOCKER,
    "docker, names with a dot": tar([(f"./{name}", content) for name, content in SAVED]),
    "docker, without the end of the tar": DOCKER[: DOCKER.rindex(MANIFEST) + 512],
    "docker, followed by other bytes": DOCKER + b"more" * 100,
    "docker, bzip2": bz2.compress(DOCKER),
    "docker, two streams of bzip2": bz2.compress(DOCKER[:9000]) + bz2.compress(DOCKER[9000:]),
    "docker, xz": lzma.compress(DOCKER),
    "oci": OCI,
    "oci, gzip": gz(OCI),
    "oci, without oci-layout": tar([LAYOUT[0], LAYOUT[1], LAYOUT[2], LAYOUT[4]]),
}
BAD = {
    "nothing": (b"", "is empty"),
    "garbage": (hashlib.shake_128(b"x").digest(4000), "is neither a tar nor one packed with gzip, bzip2, xz, zstd"),
    "a page": (PAGE, "is an HTML or XML page, not a tar"),
    "a pointer of Git LFS": (b"version https://git-lfs.github.com/spec/v1\n", "is text, not a tar"),
    "cut in a layer": (DOCKER[:20_000], "is cut off or damaged after its entry layer.tar"),
    "cut in the index": (DOCKER[: DOCKER.rindex(MANIFEST) + 9], "is cut off or damaged after its entry manifest.json"),
    "cut gzip": (gz(OCI)[:90], CUT_PACKED),
    "cut bzip2": (bz2.compress(DOCKER)[:90], CUT_PACKED),
    "cut xz": (lzma.compress(DOCKER)[:90], CUT_PACKED),
    "damaged gzip": (gz(OCI)[:60] + b"\0\xff" * 20 + gz(OCI)[100:], CUT_PACKED),
    "a page in gzip": (gz(PAGE), CUT_PACKED),
    "a tar with nothing in it": (tar([]), NO_IMAGE),
    "an exported container": (tar([("etc/passwd", b"root"), ("bin/sh", b"")]), NO_IMAGE),
    "a tar in a directory": (tar([(f"image/{name}", content) for name, content in SAVED]), NO_IMAGE),
    "a tar in a tar": (tar([("image.tar", DOCKER)]), NO_IMAGE),
    "oci without an index": (tar(LAYOUT[:-1]), NO_IMAGE),
    "no layer": (tar(SAVED[1:]), "lacks layer.tar, which its index names"),
    "no configuration": (tar([SAVED[0], SAVED[2]]), "lacks config.json, which its index names"),
    "oci without its image": (
        tar([LAYOUT[0], LAYOUT[1], *LAYOUT[3:]]),
        f"lacks {LAYOUT[2][0]}, which its index names",
    ),
    "an index that is not JSON": (
        tar([*SAVED[:2], ("manifest.json", b"{oops")]),
        "does not have JSON in its manifest.json",
    ),
    "an index of another form": (
        tar([*SAVED[:2], ("manifest.json", b'{"a": 1}')]),
        "has an unknown form of manifest.json",
    ),
}
"""Each with what is said of it."""


def unpacked(content: bytes, at: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        archive.extractall(at, filter="data")


def directories(at: Path) -> dict[str, str]:
    """Makes directories below `at`; what is said of each, empty of a good one."""
    unpacked(OCI, at / "layout")
    unpacked(DOCKER, at / "unpacked")
    unpacked(tar([LAYOUT[0], LAYOUT[1], *LAYOUT[3:]]), at / "lacks")
    (at / "empty").mkdir()
    os.symlink(at / "nowhere", at / "link")
    return {
        "layout": "",
        "unpacked": "is a directory with an unknown form of manifest.json",
        "lacks": "is a directory, and its index.json names no file in it",
        "empty": "is a directory without index.json, so it is not an OCI layout",
        "link": "is a link to a file that does not exist",
    }
