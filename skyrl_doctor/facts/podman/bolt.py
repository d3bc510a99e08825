"""Reads a bbolt file, such as podman's bolt_state.db, page by page and without its lock.

bbolt never overwrites a page that the last committed root reaches. A read is consistent if the root is the same before
and after it. The file has two meta pages; the newer valid one names the root. Branch and leaf pages follow.
"""

import struct
from collections.abc import Callable, Iterator, Mapping

from skyrl_doctor.core.record import record

MAGIC = 0xED0CDAED
Reader = Callable[[int, int], bytes]
Bucket = Mapping[bytes, "bytes | Bucket"]

_PAGE = struct.Struct("<QHHI")
_META = struct.Struct("<IIIIQQQQQQ")
_BRANCH = struct.Struct("<IIQ")
_LEAF = struct.Struct("<IIII")
_BUCKET = struct.Struct("<QQ")
_IS_BRANCH, _IS_LEAF, _HOLDS_BUCKET = 0x01, 0x02, 0x01
_SIZES = (4096, 16384, 65536, 512, 1024, 2048, 8192, 32768)
_DEPTH_AT_MOST = 64


class DamageError(ValueError):
    """The file is damaged or not a bbolt file; the text says why."""


@record
class Meta:
    """The newer valid meta page of a file."""

    page_size: int
    root: int
    high_water: int
    transaction: int


def read_meta(read: Reader, size: int) -> Meta:
    """Reads the meta page that Podman would use."""
    first = _meta(read(0, _PAGE.size + _META.size))
    sizes = (first.page_size,) if first is not None else _SIZES
    second = next((found for at in sizes if (found := _meta(read(at, _PAGE.size + _META.size))) is not None), None)
    newest = max(filter(None, (first, second)), key=lambda meta: meta.transaction, default=None)
    if newest is None:
        raise DamageError("it has no valid root page: it is not a bbolt database")
    if size < newest.high_water * newest.page_size:
        expected = newest.high_water * newest.page_size
        raise DamageError(f"it is truncated: {size} bytes, expected at least {expected}")
    return newest


def read_bucket(read: Reader, meta: Meta) -> Bucket:
    """Reads the whole tree; a bucket is a dict."""
    return _Tree(read, meta).bucket(meta.root, 0)


def _meta(data: bytes) -> Meta | None:
    if len(data) < _PAGE.size + _META.size:
        return None
    body = data[_PAGE.size : _PAGE.size + _META.size]
    magic, version, page_size, _, root, _, _, high_water, transaction, checksum = _META.unpack(body)
    if magic != MAGIC or version != 2 or checksum != fnv1a(body[:-8]):
        return None
    if page_size not in _SIZES:
        return None
    return Meta(page_size, root, high_water, transaction)


def fnv1a(data: bytes) -> int:
    """The checksum of a meta page."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


class _Tree:
    """Reads the pages of a tree, each at most once, so that a damaged file cannot cause an endless loop."""

    def __init__(self, read: Reader, meta: Meta) -> None:
        self._read = read
        self._meta = meta
        self._left = meta.high_water

    def bucket(self, root: int, depth: int) -> Bucket:
        return dict(self._items(self._page(root), depth))

    def _page(self, number: int) -> bytes:
        self._left -= 1
        if not 1 < number < self._meta.high_water or self._left < 0:
            raise DamageError(f"it refers to page {number}, which is not one of its {self._meta.high_water} data pages")
        size = self._meta.page_size
        data = self._read(number * size, size)
        if len(data) < size:
            raise DamageError(f"page {number} is truncated")
        stored, _, _, overflow = _PAGE.unpack_from(data)
        if stored != number:
            raise DamageError(f"page {number} has the number {stored} in its header")
        self._left -= overflow
        if self._left < 0:
            raise DamageError(f"page {number} claims a length of {overflow + 1} pages")
        return data + self._read((number + 1) * size, overflow * size) if overflow else data

    def _items(self, page: bytes, depth: int) -> Iterator[tuple[bytes, "bytes | Bucket"]]:
        if depth > _DEPTH_AT_MOST:
            raise DamageError("its pages form a loop")
        _, flags, count, _ = _PAGE.unpack_from(page)
        if flags == _IS_BRANCH:
            for index in range(count):
                at = _PAGE.size + index * _BRANCH.size
                _, _, child = _unpack(_BRANCH, page, at)
                yield from self._items(self._page(child), depth + 1)
        elif flags == _IS_LEAF:
            for index in range(count):
                yield self._leaf(page, _PAGE.size + index * _LEAF.size, depth)
        else:
            raise DamageError(f"a page has flags {flags:#x}; expected a branch or a leaf")

    def _leaf(self, page: bytes, at: int, depth: int) -> tuple[bytes, "bytes | Bucket"]:
        flags, position, key_size, value_size = _unpack(_LEAF, page, at)
        start = at + position
        key, value = page[start : start + key_size], page[start + key_size : start + key_size + value_size]
        if len(key) != key_size or len(value) != value_size:
            raise DamageError("an entry extends past the end of its page")
        return key, self._inner(value, depth + 1) if flags & _HOLDS_BUCKET else value

    def _inner(self, value: bytes, depth: int) -> Bucket:
        root, _ = _unpack(_BUCKET, value, 0)
        if root:
            return dict(self._items(self._page(root), depth))
        if len(value) < _BUCKET.size + _PAGE.size:
            raise DamageError("an inline bucket is truncated")
        return dict(self._items(value[_BUCKET.size :], depth))


def _unpack(layout: struct.Struct, data: bytes, at: int) -> tuple[int, ...]:
    if at < 0 or at + layout.size > len(data):
        raise DamageError("an entry extends past the end of its page")
    return layout.unpack_from(data, at)
