"""A payload for the runtime's job: answers /health and tells where it is, as `skyrl-train runtime serve` does."""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from skyrl_train.sandbox.runtime.job_files import publish, remove_stale, withdraw


class Health(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    job_dir = sys.argv[1]
    remove_stale(job_dir)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Health)
    publish(job_dir, url=f"http://127.0.0.1:{server.server_address[1]}", key="a-key")
    try:
        server.serve_forever()
    finally:
        withdraw(job_dir)
