"""The terminal tool, with a real shell: what stays, what ends, and what goes on."""

import os
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from fakes.terminals import Typist, in_a_terminal
from skyrl_train.agent.inside.terminal import CONTINUED, HOW_TO_GO_ON, RESET, Terminal
from skyrl_train.contracts.agent.arguments import Action
from skyrl_train.contracts.agent.transcript import Result

NAP = f"sleep 95.{os.getpid()}"
"""By a name of its own, since it is looked for by its name: others sleep here too."""
ERROR = "[An error occurred during execution.]\n"


def test_what_a_command_leaves_the_next_one_finds(tmp_path: Path) -> None:
    async def work(typed: Typist) -> list[tuple[str, int | None]]:
        await typed("mkdir -p 'a b' && cd 'a b'; export LINES_='1\n2'; own=3; f() { echo \"f $1\"; }; alias g='f 4'")
        await typed("shopt -s extglob; set -o pipefail; list=(x 'y z'); export -f f; unset LANG")
        return [
            await typed('echo "$LINES_"; echo $own "${list[1]}"; bash -c "f 5"; g'),
            await typed('basename "$PWD"; echo "${LANG-unset}"; echo !(x); false | true'),
        ]

    assert in_a_terminal(tmp_path, work) == [("1\n2\n3 y z\nf 5\nf 4", 0), ("a b\nunset\n!(x)", 1)]


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("exit 3", 3),
        ("set -e; false; echo no", 1),
        ("set -u; echo $none_such; echo no", 127),
        ("exec false", 1),
        ("kill -9 $$", 137),
        ("no_such_command", 127),
        ("echo 'open", 2),
        ("cd() { false; }; trap 'true' EXIT", 0),
    ],
)
def test_no_command_ends_the_session(tmp_path: Path, command: str, code: int) -> None:
    async def work(typed: Typist) -> list[tuple[str, int | None]]:
        await typed("export KEPT=yes; mkdir -p d; cd d")
        return [("", (await typed(command))[1]), await typed('echo $KEPT; basename "$PWD"')]

    assert in_a_terminal(tmp_path, work) == [("", code), ("yes\nd", 0)]


def test_an_open_here_document_ends_with_bashs_warning(tmp_path: Path) -> None:
    async def work(typed: Typist) -> tuple[str, int | None]:
        return await typed("cat <<EOF\nhalf")

    text, code = in_a_terminal(tmp_path, work)
    assert re.search(r"warning: here-document .*delimited by end-of-file \(wanted `EOF'\)\nhalf", text)
    assert code == 0


def test_says_where_the_shell_is_and_how_the_command_ended(tmp_path: Path) -> None:
    async def work(typed: Typist) -> str:
        return (await typed.result("cd /tmp; PATH=/nowhere; false")).text

    assert in_a_terminal(tmp_path, work) == (
        "\n[The command completed with exit code 1.]\n[Current working directory: /tmp]"
        "\n[Command finished with exit code 1]"
    )


def test_a_command_that_reaches_the_time_that_was_asked_for_goes_on(tmp_path: Path) -> None:
    async def work(typed: Typist) -> list[Result]:
        return [
            await typed.result("read -p 'name? ' name; echo hello $name", timeout=3.0),
            await typed.result("ls"),
            await typed.result("", timeout=0.1),
            await typed.result("Ada", is_input=True),
        ]

    first, other, more, last = in_a_terminal(tmp_path, work)
    asked = f"[The command timed out after 3.0 seconds. {HOW_TO_GO_ON}]"
    assert first == Result(text=f"name? \n{asked}".replace("name? \n", "name?\n"))
    assert other.text.startswith(
        f'{ERROR}{CONTINUED}\n[Your command "ls" is NOT executed. The previous command is still'
    )
    assert more == Result(text=f"{CONTINUED}\n{asked.replace('3.0', '0.1')}")
    assert last.text.startswith("hello Ada\n[The command completed with exit code 0.]")


def test_a_key_interrupts_the_whole_command(tmp_path: Path) -> None:
    async def work(typed: Typist) -> list[Result]:
        await typed("export KEPT=yes")
        await typed("sleep 100; echo never", timeout=0.1)
        interrupted = await typed.result("C-c", is_input=True)
        await typed("cat", timeout=0.1)
        return [interrupted, await typed.result("C-d", is_input=True), await typed.result("echo $KEPT")]

    interrupted, ended, after = in_a_terminal(tmp_path, work)
    assert interrupted.text.startswith("\n[The command completed with exit code 130. CTRL+C was sent.]\n")
    assert interrupted.exit_code == 130
    assert ended.text.startswith("\n[The command completed with exit code 0. CTRL+D was sent.]\n")
    assert after.text.startswith("yes\n")


def test_a_stopped_command_gives_the_terminal_back(tmp_path: Path) -> None:
    async def work(typed: Typist) -> list[tuple[str, int | None]]:
        await typed("sleep 100", timeout=0.1)
        return [await typed("C-z", is_input=True), await typed("echo on")]

    assert in_a_terminal(tmp_path, work) == [("", 148), ("on", 0)]


def test_a_command_is_stopped_at_the_limit_with_all_that_it_started(tmp_path: Path) -> None:
    async def work(typed: Typist) -> tuple[Result, str]:
        await typed("cd /tmp")
        late = await typed.result(f"echo before; trap '' TERM; {NAP} & {NAP}", limit_s=3.0)
        return late, (await typed(f"pgrep -fxc '{NAP}'"))[0]

    late, left = in_a_terminal(tmp_path, work)
    assert re.fullmatch(
        r"before\n\[The command was stopped at its limit of 3 seconds\.\]\n\[Current working directory: /tmp\](\n\[.*\])?",
        late.text,
    )
    assert (late.timed_out, late.exit_code, left) == (True, None, "0")


def test_a_command_that_ends_between_two_looks_ends_no_tools() -> None:
    ended = subprocess.Popen(("sh", "-c", "exit 3"))
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    looks = iter((lambda: None, ended.poll))
    terminal = Terminal.__new__(Terminal)
    terminal._running = SimpleNamespace(pid=ended.pid, poll=lambda: next(looks)())
    assert terminal._exit_code() == 3


def test_nothing_to_ask_after(tmp_path: Path) -> None:
    async def work(typed: Typist) -> list[str]:
        return [(await typed.result(text, is_input=is_input)).text for text, is_input in (("", False), ("y", True))]

    assert in_a_terminal(tmp_path, work) == [
        f"{ERROR}No previous running command to retrieve logs from.",
        f"{ERROR}No previous running command to interact with.",
    ]


def test_reset_forgets_and_ends_what_runs(tmp_path: Path) -> None:
    async def work(typed: Typist) -> list[str]:
        await typed(f"cd /; export GONE=1; {NAP} &")
        await typed(NAP, timeout=0.1)
        with_input = await typed.result("x", reset=True, is_input=True)
        alone = await typed.result("", reset=True)
        then = await typed.result(f"pgrep -fxc '{NAP}'; echo [$GONE]; basename $PWD", reset=True)
        return [with_input.text, alone.text, then.text.split("\n[The")[0]]

    assert in_a_terminal(tmp_path, work) == [
        f"{ERROR}Cannot use reset=True with is_input=True",
        RESET,
        f"{RESET}\n\n0\n[]\ntestbed",
    ]


def test_a_background_job_goes_on_and_is_gone_with_the_sandbox(tmp_path: Path) -> None:
    async def work(typed: Typist) -> list[str]:
        await typed(f"{NAP} & setsid {NAP} & disown; ({NAP} &)")
        return (await typed(f"until [ $(pgrep -fxc '{NAP}') = 3 ]; do :; done; pgrep -fx '{NAP}'"))[0].split()

    pids = in_a_terminal(tmp_path, work)
    assert len(pids) == 3
    assert [pid for pid in pids if _lives(pid)] == []


def _lives(pid: str) -> bool:
    try:
        return b"sleep" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def test_output_that_is_no_text_and_no_newline_at_the_end(tmp_path: Path) -> None:
    async def work(typed: Typist) -> tuple[str, int | None]:
        return await typed("printf '  caf\\xe9 \\xc3\\xa9\\tx'; printf '\\x1b[31mred'")

    assert in_a_terminal(tmp_path, work) == ("  caf� é\tx\x1b[31mred", 0)


def test_half_a_character_at_the_end_is_no_part_of_the_next_output(tmp_path: Path) -> None:
    async def work(typed: Typist) -> list[tuple[str, int | None]]:
        return [await typed(r"printf 'a\303'"), await typed("echo b")]

    assert in_a_terminal(tmp_path, work) == [("a\ufffd", 0), ("b", 0)]


@pytest.mark.parametrize("character", ["\0", "\ud800"])
def test_what_no_system_call_takes_is_said_and_the_tools_go_on(tmp_path: Path, character: str) -> None:
    async def work(typed: Typist) -> list[Result]:
        asked = [
            Action("file_editor", {"command": "view", "path": f"/a{character}"}),
            Action("file_editor", {"command": "create", "path": f"/tmp/a{character}/b", "file_text": "x"}),
        ]
        return [*[await typed.sandbox.run(action, limit_s=9.0) for action in asked], await typed.result("echo on")]

    *refused, after = in_a_terminal(tmp_path, work)
    assert [result.text.startswith(ERROR) for result in refused] == [True, True]
    assert after.text.startswith("on\n")


def test_a_flood_is_stopped_and_kept_in_part(tmp_path: Path) -> None:
    async def work(typed: Typist) -> Result:
        return await typed.result("yes 0123456789", limit_s=3.0)

    flood = in_a_terminal(tmp_path, work)
    assert flood.timed_out
    assert len(flood.text) < 9 * 1024 * 1024
    assert flood.text.startswith("0123456789\n0123456789\n")


def test_a_long_script_and_a_here_document_are_one_command(tmp_path: Path) -> None:
    async def work(typed: Typist) -> tuple[str, int | None]:
        comment = "# " + "x" * 300_000
        return await typed(f"{comment}\ncat <<'E'\na $b\n  'c'\nE\nfor i in 1 2; do\n  echo $i\ndone")

    assert in_a_terminal(tmp_path, work) == ("a $b\n  'c'\n1\n2", 0)
