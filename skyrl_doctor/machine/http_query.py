"""The HTTP query and its answer."""

from skyrl_doctor.core.record import record
from skyrl_doctor.machine.queries import Query


@record(kw_only=True)
class Fetched:
    """The answer of a server. A failure does not raise: `status` is None, and `why` is the reason.

    Only the names of the headers are kept.
    """

    url: str
    status: int | None = None
    headers: tuple[str, ...] = ()
    body: str = ""
    truncated: bool = False
    why: str = ""


@record(kw_only=True)
class Get(Query[Fetched]):
    """An HTTP GET, without proxies and without following redirects.

    The header `key_header` is sent with the key from `key_from`: "file PATH", "env NAME" or "text VALUE". Only the
    machine reads the key; no fact and no recording contains it.
    """

    url: str
    limit_s: float
    key_header: str = ""
    key_from: str = ""
    limit_bytes: int = 1 << 18

    @property
    def key(self) -> str:
        return f"get {self.url}" + (f" with {self.key_header} of {self.key_from}" if self.key_header else "")
