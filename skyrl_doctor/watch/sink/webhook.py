"""Posts alerts to a web address: in a thread, within a time limit, without secrets. Failures are counted."""

import http.client
import json
import queue
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any

from skyrl_doctor.core.errors import UsageError

LIMIT_S = 5.0
MOST_WAITING = 100


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: alerts go only to the address that the user gave."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class Webhook:
    """`redact` removes secrets from all messages. The address is a secret itself and is never printed."""

    def __init__(self, url: str, redact: Callable[[str], str]) -> None:
        if not url.startswith(("https://", "http://")):
            raise UsageError("--webhook: the address must begin with https:// or http://")
        self._url, self._redact = url, redact
        self._queue: queue.Queue[Mapping[str, Any]] = queue.Queue(MOST_WAITING)
        self.sent = 0
        self.failed = 0
        self._opener = urllib.request.build_opener(_Stay)
        threading.Thread(target=self._work, name="webhook", daemon=True).start()

    def send(self, one: Mapping[str, Any]) -> None:
        try:
            self._queue.put_nowait(one)
        except queue.Full:
            self.failed += 1

    def wait(self, limit_s: float) -> None:
        """Waits until all messages are sent, at most this long."""
        waiter = threading.Thread(target=self._queue.join, daemon=True)
        waiter.start()
        waiter.join(limit_s)

    def _work(self) -> None:
        while True:
            one = self._queue.get()
            try:
                self._post(one)
                self.sent += 1
            except (OSError, ValueError, http.client.HTTPException):  # an HTTPError is an OSError
                self.failed += 1
            finally:
                self._queue.task_done()

    def _post(self, one: Mapping[str, Any]) -> None:
        body = self._redact(json.dumps(one, ensure_ascii=False)).encode("utf-8", "replace")
        request = urllib.request.Request(  # noqa: S310 -- the constructor lets http and https through alone
            self._url, data=body, headers={"Content-Type": "application/json"}, method="POST"
        )
        with self._opener.open(request, timeout=LIMIT_S) as response:
            response.read(1)
