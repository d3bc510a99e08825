"""Reads a multipart/form-data body as a stream, in constant memory. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from skyrl_train.sandbox.sandboxd.http import HttpError

_MAX_PART_HEAD = 16 * 1024
_CHUNK = 256 * 1024


def file_chunks(read: Callable[[int], bytes], content_type: str) -> Iterator[bytes] | None:
    """The content of the part that is named "file" and has a file name; None without one, or if the body is no form or
    empty. Skips parts before it, which clients of 1.8.2 send. Raises HttpError(400) for an incomplete form."""
    if not _is_form(content_type):
        return None
    boundary, start = _boundary(content_type), read(_CHUNK)
    if not start:
        return None
    parts = _Parts(read, boundary, start)
    parts.skip()
    while True:
        head = parts.head()
        if head is None:
            return None
        fields = _disposition(head)
        if fields.get("name") == "file" and "filename" in fields:
            return parts.content()
        parts.skip()


def each_part(read: Callable[[int], bytes], content_type: str) -> Iterator[tuple[dict[str, str], Iterator[bytes]]]:
    """The fields and the content of each part; read the content before the next part."""
    parts = _Parts(read, _boundary(content_type))
    parts.skip()
    while True:
        head = parts.head()
        if head is None:
            return
        content = parts.content()
        yield _disposition(head), content
        for _ in content:
            pass


class _Parts:
    def __init__(self, read: Callable[[int], bytes], boundary: bytes, start: bytes = b"") -> None:
        self._read = read
        self._delimiter = b"\r\n--" + boundary
        self._buffer = b"\r\n" + start  # the first delimiter may stand at the very start

    def head(self) -> bytes | None:
        """The headers of the next part; None after the last one."""
        while len(self._buffer) < 2:
            self._more()
        if self._buffer.startswith(b"--"):
            return None
        if not self._buffer.startswith(b"\r\n"):
            raise _malformed("unexpected data after a boundary")
        while b"\r\n\r\n" not in self._buffer:
            if len(self._buffer) > _MAX_PART_HEAD:
                raise _malformed("the headers of a part are incomplete")
            self._more()
        head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
        return head

    def content(self) -> Iterator[bytes]:
        """The content up to the next delimiter, which is consumed."""
        keep = len(self._delimiter) - 1
        while True:
            at = self._buffer.find(self._delimiter)
            if at >= 0:
                data, self._buffer = self._buffer[:at], self._buffer[at + len(self._delimiter) :]
                if data:
                    yield data
                return
            if len(self._buffer) > keep:
                data, self._buffer = self._buffer[:-keep], self._buffer[-keep:]
                yield data
            self._more()

    def skip(self) -> None:
        for _ in self.content():
            pass

    def _more(self) -> None:
        data = self._read(_CHUNK)
        if not data:
            raise _malformed("the last boundary is missing")
        self._buffer += data


def _malformed(why: str) -> HttpError:
    return HttpError(400, f"There was an error parsing the body: {why}")


def _is_form(content_type: str) -> bool:
    return content_type.partition(";")[0].strip().lower() == "multipart/form-data"


def _boundary(content_type: str) -> bytes:
    kind, _, rest = content_type.partition(";")
    if not _is_form(content_type):
        raise _malformed(f"it is {kind.strip()[:80] or 'of no content-type'}; expected multipart/form-data")
    boundary = parameters(rest).get("boundary", "")
    if not 0 < len(boundary) <= 200:
        raise _malformed("content-type has no boundary")
    return boundary.encode("latin-1", "replace")


def _disposition(head: bytes) -> dict[str, str]:
    for line in head.decode("utf-8", "replace").split("\r\n"):
        name, _, value = line.partition(":")
        if name.strip().lower() == "content-disposition":
            return parameters(value.partition(";")[2])
    return {}


def parameters(text: str) -> dict[str, str]:
    """`name=value; other="a \\"quoted\\" value"`, names in lower case."""
    found: dict[str, str] = {}
    while text.strip(" ;"):
        name, _, text = text.partition("=")
        value, text = _quoted(text.lstrip()[1:]) if text.lstrip().startswith('"') else _plain(text)
        found[name.strip(" ;\t").lower()] = value
    return found


def _plain(text: str) -> tuple[str, str]:
    value, _, rest = text.partition(";")
    return value.strip(), rest


def _quoted(text: str) -> tuple[str, str]:
    value, at = "", 0
    while at < len(text) and text[at] != '"':
        at += text[at] == "\\" and at + 1 < len(text)
        value += text[at]
        at += 1
    return value, text[at + 1 :].partition(";")[2]
