"""What is ended of a store: what was started in its place, and nobody who merely passed the variables on."""

import os
import subprocess
import sys
from pathlib import Path

ENDS = "from skyrl_train.sandbox.runtime.podman.leftovers import end_leftovers; import sys; end_leftovers(sys.argv[1])"


def test_whoever_started_the_server_lives_on(tmp_path: Path) -> None:
    """The script of a job sets the store's variables for itself and for the server."""
    script = 'sleep 60 & echo $!; "$@"; echo still here; wait'
    words = ["bash", "-c", script, "job", sys.executable, "-c", ENDS, str(tmp_path)]
    env = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=300, check=False)
    pid, *rest = done.stdout.split("\n")
    assert rest == ["still here", ""], done.stderr
    assert not Path(f"/proc/{pid}").exists()


def test_a_number_that_is_another_process_now_is_left_alone(tmp_path: Path) -> None:
    pid_file = tmp_path / "run" / "libpod" / "tmp" / "pause.pid"
    pid_file.parent.mkdir(parents=True)
    with subprocess.Popen(["sleep", "60"]) as other:
        pid_file.write_text(str(other.pid))
        subprocess.run([sys.executable, "-c", ENDS, str(tmp_path / "run")], check=True, timeout=300)
        assert other.poll() is None
        other.kill()
