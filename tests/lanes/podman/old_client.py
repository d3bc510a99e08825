"""A session as a client of OpenHands 1.8.2 has it; a program of its own, since its packages bear the names of today's.

old_client.py URL KEY IMAGE DIRECTORY: what it saw, as one line of JSON.
"""

import json
import sys
from pathlib import Path
from typing import Any

CONTENT = b"\0bytes\xff\r\n--x" * 100_000


def main(url: str, key: str, image: str, directory: Path) -> dict[str, Any]:
    from openhands.sdk import __version__
    from openhands.workspace import APIRemoteWorkspace

    there, back = directory / "there", directory / "back"
    there.write_bytes(CONTENT)
    with APIRemoteWorkspace(
        runtime_api_url=url, runtime_api_key=key, server_image=image, session_id="old", working_dir="/tmp"
    ) as space:
        said = space.execute_command("echo out; exit 3", cwd="/tmp", timeout=120)
        sent = space.file_upload(str(there), "/tmp/deep/down/a file é")
        copied = space.execute_command("cat '/tmp/deep/down/a file é' > /tmp/copy", cwd="/tmp", timeout=120)
        got = space.file_download("/tmp/copy", str(back))
        absent = space.file_download("/tmp/absent", str(directory / "absent"))
    return {
        "version": __version__,
        "command": [said.exit_code, said.stdout],
        "upload": [sent.success, sent.file_size, sent.error],
        "copied": [copied.exit_code, copied.stderr],
        "download": [got.success, back.exists() and back.read_bytes() == CONTENT, got.error],
        "absent": [absent.success, "404" in (absent.error or "")],
    }


if __name__ == "__main__":
    url, key, image, directory = sys.argv[1:]
    print(json.dumps(main(url, key, image, Path(directory))))  # noqa: T201 -- read by the test
