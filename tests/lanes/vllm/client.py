"""Waits for eight rollouts as an orchestrator does that keeps its errors to itself: argv are the server and max_tokens.

Each refused request is sent again, and the progress bar stands at 0/8.
"""

import json
import sys
import time
import urllib.error
import urllib.request


def main(server: str, max_tokens: int) -> None:
    done = 0
    body = {"model": "tiny", "messages": [{"role": "user", "content": "the quick " * 150}], "max_tokens": max_tokens}
    while done < 8:
        sys.stdout.write(f"\rGenerating rollouts: {done * 12:3}%|          | {done}/8 [00:00<?, ?it/s]")
        sys.stdout.flush()
        request = urllib.request.Request(
            f"{server}/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        try:
            urllib.request.urlopen(request, timeout=60).read()
            done += 1
        except (OSError, urllib.error.HTTPError):
            time.sleep(0.5)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
