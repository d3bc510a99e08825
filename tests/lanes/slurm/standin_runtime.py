"""A payload for the runtime's job: an empty runtime, with no Podman behind it, that tells where it is as the real one does."""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from skyrl_train.sandbox.runtime.job_files import publish, remove_stale, withdraw

KEY = "a-key-of-the-lane"


class Empty(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        known = self.headers.get("X-API-Key") == KEY
        status = 200 if self.path == "/health" or (known and self.path == "/list") else 404 if known else 401
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"runtimes": []}' if self.path == "/list" and known else b"{}")

    do_POST = do_GET  # noqa: N815 -- the library's name

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    job_dir = sys.argv[1]
    remove_stale(job_dir)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Empty)
    publish(job_dir, url=f"http://127.0.0.1:{server.server_address[1]}", key=KEY)
    try:
        server.serve_forever()
    finally:
        withdraw(job_dir)
