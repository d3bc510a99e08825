"""The query that goes over HTTP, and its answer."""

from skyrl_doctor.core.record import record
from skyrl_doctor.machine.queries import Query


@record(kw_only=True)
class Fetched:
    """What a server answered. It never raises: `status` None is no answer, and `why` says why there was none.

    Of the headers only their names are kept.
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

    `key_header` is sent with what `key_from` names: "file PATH", "env NAME", "text VALUE". Only the machine reads the
    key: neither a fact nor a recording ever holds it.
    """

    url: str
    limit_s: float
    key_header: str = ""
    key_from: str = ""
    limit_bytes: int = 1 << 18

    @property
    def key(self) -> str:
        return f"get {self.url}" + (f" with {self.key_header} of {self.key_from}" if self.key_header else "")
