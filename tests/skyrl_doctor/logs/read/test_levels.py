"""The level of a line, in the headers that loggers write."""

import pytest

from skyrl_doctor.logs.read.levels import Header, Level, last_level, parse_header
from skyrl_doctor.logs.read.noise import clean

BELOW, WARNING, ERROR, FATAL = Level


@pytest.mark.parametrize(
    ("line", "level", "message"),
    [
        ("ERROR:root:odd", ERROR, "root:odd"),
        ("[E socket.cpp:462] [c10d] odd", ERROR, "odd"),
        ("[W socket.cpp:663] [c10d] an ERROR page", WARNING, "an ERROR page"),
        ("2026-03-02 09:14:03,120 - own.reward - ERROR - odd", ERROR, "odd"),
        ("[2026-03-02 09:14:03,120][own.data][INFO] - an ERROR page", BELOW, "an ERROR page"),
        ("[2026-03-02 09:14:03,120] [ERROR] [launch.py:325:handler] odd", ERROR, "odd"),
        ("[03/02/26 09:14:03] INFO     odd", BELOW, "odd"),
        ("2026-03-02 09:14:03.120 | ERROR    | own.main:run:55 - OSError: odd", ERROR, "OSError: odd"),
        ("12:01:53   ERROR odd", ERROR, "odd"),
        ("12:49:17 SUCCESS Step 11", BELOW, "Step 11"),
        ("(EngineCore_DP0 pid=1) ERROR 03-02 09:14:31 [core.py:708] ValueError: odd", ERROR, "ValueError: odd"),
        ("INFO 03-02 09:14:31 engine.py:529] odd", BELOW, "odd"),
        ("E1122 10:00:00.006647   33721 server.cc:213]    odd", ERROR, "odd"),
        ("[rank0]:[E325 04:13:11.37 ProcessGroupNCCL.cpp:632] odd", ERROR, "odd"),
        ("I1122 10:00:00.006647   33721 server.cc:213] odd", BELOW, "odd"),
        ("(raylet) [2026-03-02 09:14:03,500 E 812 812] (raylet) pool.cc:5: odd", ERROR, "(raylet) pool.cc:5: odd"),
        ("[2026-03-02 09:14:03,500 C 29 29] (gcs_server) id.h:2: odd", FATAL, "(gcs_server) id.h:2: odd"),
        ("2026-03-02 09:14:03,120\tERR cli.py:72 -- odd", ERROR, "odd"),
        ("ERRO[0014] odd", ERROR, "odd"),
        ("FATA[0014] odd", FATAL, "odd"),
        ("INFO[0000] odd", BELOW, "odd"),
        ('time="2026" level=error msg=odd', ERROR, 'time="2026" level=error msg=odd'),
        (
            "{'event': 'odd', 'level': 'info', 'exc': 'ERROR'}",
            BELOW,
            "{'event': 'odd', 'level': 'info', 'exc': 'ERROR'}",
        ),
        ("1.66e+09\tERROR\tsetup\todd", ERROR, "setup\todd"),
        ("gpu07:2143:2561 [1] include/shm.h:28 NCCL WARN odd", WARNING, "odd"),
        ("slurmstepd: error: pyxis: odd", ERROR, "pyxis: odd"),
        ("[2026-03-02T09:14:03.152] [51.0] error: odd", ERROR, "odd"),
        ("Mar 02 04:01:14 gpu07 kubelet[64]: E0302 04:01:14.631   64 kubelet.go:24] odd", ERROR, "odd"),
        ("wandb: WARNING odd", WARNING, "odd"),
        ("Mar 02 04:01:14 gpu07 runtime[123]: 9:14AM ERR odd", ERROR, "odd"),
        ("2026-03-02T09:14:03Z FTL odd", FATAL, "odd"),
        ("9:14AM INF an ERROR page", BELOW, "an ERROR page"),
        ("9:14AM WRN odd", WARNING, "odd"),
        ("loss: INF odd", None, "loss: INF odd"),
        ("2026-03-02 09:14:03 [error    ] odd", ERROR, "odd"),
        ("2026-03-02 09:14:03 [info     ] an ERROR page", BELOW, "an ERROR page"),
        ("[error] odd", ERROR, "odd"),
        (
            "RuntimeError: odd (run with NCCL_DEBUG=INFO for details)",
            None,
            "RuntimeError: odd (run with NCCL_DEBUG=INFO for details)",
        ),
        ("KeyError: INFO: no such row", None, "KeyError: INFO: no such row"),
        ("[2026-03-02 09:14:03 DP0 TP3] WARNING: odd", WARNING, "odd"),
        ("gpu07: TypeError: odd, level INFO", None, "gpu07: TypeError: odd, level INFO"),
        ("the level INFO means nothing", None, "the level INFO means nothing"),
        ("", None, ""),
    ],
)
def test_the_level_is_read_in_its_place(line: str, level: Level | None, message: str) -> None:
    text = clean(line.encode()).decode()
    header = parse_header(text)
    assert (header.level, text[header.end :]) == (level, message)


def test_a_header_behind_a_progress_bar_counts() -> None:
    assert last_level("Rollouts:  62%|## | 5/8 INFO 03-02 09:14:31 [core.py:7] it was ") is BELOW
    assert last_level("12:01:53   ERROR Rollouts:  62%|## 12:01:54    INFO it was ") is BELOW
    assert last_level("Rollouts:  62%|## | 5/8 the level INFO and ") is None
    assert parse_header("x" * 100_000) == Header(None, 0)
