"""What stands for the real agent server: a small one with its command line, for the lane needs no package of OpenHands.
Where SKYRL_AGENT_SERVER names a real one (what `sandbox.agent_server` takes), that is tried instead.
"""

import os
import subprocess
import sys
from pathlib import Path

from skyrl_train.sandbox.server_bundle import ServerBundle, make_bundle
from skyrl_train.sandbox.server_source import source_of

STAND_IN = """\
import http.server, json, subprocess, sys
words = sys.argv[1:]
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer({"status": "ok", "title": "stand-in"})
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        done = subprocess.run(["/bin/sh", "-c", body["command"]], capture_output=True, text=True)
        self.answer({"exit_code": done.returncode, "stdout": done.stdout, "stderr": done.stderr})
    def answer(self, body):
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
    def log_message(self, *words):
        pass
port = int(words[words.index("--port") + 1])
http.server.ThreadingHTTPServer((words[words.index("--host") + 1], port), Handler).serve_forever()
"""


def stand_in_bundle(workshop: Path) -> ServerBundle:
    """Made once below the workshop. Readable to the lane's user, who may not read the interpreter that it is made of."""
    place = workshop / "agent-server"
    named = os.environ.get("SKYRL_AGENT_SERVER")
    if named:
        return make_bundle(source_of(named, version="1.58.0"), place, whole=True)
    environment = workshop / "environment"
    if not environment.exists():
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
        site = next(environment.glob("lib/python*/site-packages"))
        (site / "openhands" / "agent_server").mkdir(parents=True)
        (site / "openhands" / "agent_server" / "__main__.py").write_text(STAND_IN)
        (site / "openhands_agent_server-1.58.0.dist-info").mkdir()
        (site / "openhands_agent_server-1.58.0.dist-info" / "RECORD").touch()
    return make_bundle(source_of(str(environment), version="0"), place, whole=True)
