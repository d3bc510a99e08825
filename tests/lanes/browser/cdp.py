"""Drives Chromium over the Chrome DevTools Protocol: real clicks and keys, without a package. The pipe needs no port."""

import base64
import fcntl
import itertools
import json
import os
import selectors
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAVIGATED = "Inspected target navigated or closed"
LIMIT_S = 40.0
KEYS = {
    "Enter": ("Enter", 13, "\r"),
    "Tab": ("Tab", 9, ""),
    "Escape": ("Escape", 27, ""),
    "Space": (" ", 32, " "),
    "ArrowDown": ("ArrowDown", 40, ""),
    "End": ("End", 35, ""),
}


class NavigatedError(Exception):
    """The page was left while it was asked."""


class Page:
    """One page of a browser. What the page logs as an error is in `errors`; what it asks for is in `requests`."""

    def __init__(self, read: int, write: int) -> None:
        self._read, self._write = read, write
        self._numbers, self._rest = itertools.count(1), b""
        self._selector = selectors.DefaultSelector()
        self._selector.register(read, selectors.EVENT_READ)
        self._session = ""
        self.errors: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **words: Any) -> dict[str, Any]:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": words}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + LIMIT_S
        while True:
            answer = self._receive(until)
            if answer.get("id") == number:
                if NAVIGATED in answer.get("error", {}).get("message", ""):
                    raise NavigatedError(method)
                assert "error" not in answer, (method, answer["error"])
                result: dict[str, Any] = answer["result"]
                return result

    def _receive(self, until: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            assert self._selector.select(max(0.0, until - time.monotonic())), "Chromium does not answer"
            piece = os.read(self._read, 1 << 20)
            assert piece, "Chromium ended"
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, method: str, words: Mapping[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            self.errors.append(str(words["exceptionDetails"]))
        elif method == "Log.entryAdded" and words["entry"]["level"] == "error":
            self.errors.append(words["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(words["request"]["url"])

    def evaluate(self, script: str) -> Any:
        found = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, script: str) -> Any:
        """The first true value of an expression."""
        until = time.monotonic() + LIMIT_S
        loop = f"new Promise((done) => {{ const look = () => {{ let found; try {{ found = Boolean({script}); }} catch {{}} if (found) done(found); else setTimeout(look, 30); }}; look(); setTimeout(() => done(null), {LIMIT_S * 900}); }})"
        while True:
            try:
                found = self.evaluate(loop)
                break
            except NavigatedError:  # a click on a link: the next page is asked
                assert time.monotonic() < until, f"{script}: the page never came to rest"
        assert found, f"{script} stayed false; the page shows: {self.text()[:600]}"
        assert time.monotonic() < until
        return found

    def open(self, url: str, *, width: int = 1400, height: int = 900, dark: bool = False) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[feature])
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def click(self, selector: str) -> None:
        """Moves the mouse to an element and clicks."""
        place = self.evaluate(
            f"(() => {{ const one = document.querySelector({json.dumps(selector)}); one.scrollIntoView({{block: 'center'}}); "
            "const box = one.getClientRects()[0]; return {x: box.x + box.width / 2, y: box.y + box.height / 2}; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def press(self, key: str) -> None:
        name, code, text = KEYS.get(key, (key, ord(key.upper()) if len(key) == 1 else 0, key))
        words = {"key": name, "code": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **words)
        self.call("Input.dispatchKeyEvent", type="keyUp", **words)

    def tab_to(self, test: str, *, most: int = 60) -> None:
        """Presses Tab until the element that has the focus passes a test, which names it `it`."""
        for _ in range(most):
            self.press("Tab")
            if self.evaluate(f"((it) => Boolean({test}))(document.activeElement)"):
                return
        raise AssertionError(f"Tab never reached: {test}")

    def text(self) -> str:
        return str(self.evaluate("document.body.innerText"))

    def picture(self, path: Path) -> None:
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=False)["data"]
        path.write_bytes(base64.b64decode(data))

    def accessibility(self, axe: Path) -> list[str]:
        """The serious findings of axe-core."""
        self.call("Page.setBypassCSP", enabled=True)
        self.evaluate(axe.read_text(encoding="utf-8") + "; true")
        found = self.evaluate(
            "axe.run(document, {resultTypes: ['violations']}).then((all) => all.violations"
            ".map((one) => `${one.impact} ${one.id}: ${one.nodes[0].html.slice(0, 200)} ${one.nodes[0].failureSummary}`))"
        )
        return [one for one in found if one.startswith(("serious", "critical"))]


@contextmanager
def browser() -> Iterator[Page]:
    """A headless Chromium with a profile of its own."""
    program = shutil.which("chromium") or "chromium"
    there, write = _high_pipe()
    read, back = _high_pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = _start(program, profile, there, back)
        os.close(there)
        os.close(back)
        try:
            yield Page(read, write)
        finally:
            os.close(write)
            os.close(read)
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(timeout=10)


def _high_pipe() -> tuple[int, int]:
    """A pipe whose descriptors are not 3 and 4, which Chromium uses."""
    ends = os.pipe()
    high = fcntl.fcntl(ends[0], fcntl.F_DUPFD_CLOEXEC, 20), fcntl.fcntl(ends[1], fcntl.F_DUPFD_CLOEXEC, 20)
    for end in ends:
        os.close(end)
    return high


def _start(program: str, profile: str, there: int, back: int) -> subprocess.Popen[bytes]:
    """Chromium reads its commands from descriptor 3 and answers on 4."""
    words = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
    words += ["--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"]
    shell = f'exec "$0" "$@" 3<&{there} 4>&{back}'
    return subprocess.Popen(
        ["bash", "-c", shell, program, *words],
        pass_fds=(there, back),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
