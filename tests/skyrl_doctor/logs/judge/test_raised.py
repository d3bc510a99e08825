"""The parts of an unknown error, and the text to search the web for."""

import pytest

from skyrl_doctor.logs.cause.root_cause import find_root_cause
from skyrl_doctor.logs.judge.files import scan_chunks
from skyrl_doctor.logs.judge.frames import raising_package
from skyrl_doctor.logs.judge.raised import Raised, search_text
from skyrl_doctor.logs.match.patterns import installed_patterns

VLLM = "/venv/lib/python3.12/site-packages/vllm/lora/shrink.py"
HEAD = "(EngineCore_DP0 pid=4) ERROR 03-02 09:14:31 [core.py:708] "


def raised(*lines: str) -> Raised | None:
    text = "".join(f"{line}\n" for line in lines).encode()
    return find_root_cause([scan_chunks("a.log", [text], installed_patterns())]).raised


def test_an_exception_is_taken_apart() -> None:
    assert raised(
        "INFO 03-02 09:13:00 [api_server.py:1289] vLLM API server version 0.11.0",
        f"{HEAD}Traceback (most recent call last):",
        f'{HEAD}  File "{VLLM}", line 149, in shrink',
        f"{HEAD}    assert rows.size(0) == count",
        f"{HEAD}AssertionError",
    ) == Raised("AssertionError", "assert rows.size(0) == count", "vllm", "0.11.0")


def test_a_message_that_ends_with_a_colon_has_its_reason_below() -> None:
    assert raised("run - ERROR - Failed to load model:", "VideoProcessor requires Torchvision", "bye") == Raised(
        "", "Failed to load model: VideoProcessor requires Torchvision", "", ""
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("slurmstepd: error: the odd plugin is not here", Raised("", "the odd plugin is not here", "slurmstepd", "")),
        ('{"event": "odd", "level": "error"}', Raised("", "odd", "", "")),
        (
            '{"event": "odd", "level": "error", "exc": "own.errors.OddError: no row"}',
            Raised("own.errors.OddError", "no row", "", ""),
        ),
        ("[rank3]: KeyError: 'input_ids'", Raised("KeyError", "'input_ids'", "", "")),
        ("09:00:02  level=error msg=Error: no machine is left", Raised("Error", "no machine is left", "", "")),
        ('t=09:00:02 lvl=eror msg="the panel was refused" logger=a', Raised("", "the panel was refused", "", "")),
        (
            '09:00:04\tERROR\tscorer\tno score was written\t{"id": "a"}',
            Raised("", "scorer\tno score was written", "", ""),
        ),
        ("2026-03-02 09:00:04 ERROR (MainThread) [own.setup] no such panel", Raised("", "no such panel", "", "")),
        ('Exception in thread "main" a.b.OddError: it is closed', Raised("a.b.OddError", "it is closed", "", "")),
        ("scorer-0   0/1   CrashLoopBackOff   6   9m", Raised("", "CrashLoopBackOff   6   9m", "", "")),
    ],
)
def test_a_line_without_a_traceback(line: str, expected: Raised) -> None:
    assert raised(line) == expected


def test_of_a_traceback_without_an_end_the_line_above_says_what_was_done() -> None:
    lines = ("the panel could not be set up", "Traceback (most recent call last):", '  File "/own/a.py", line 3, in f')
    assert raised(*lines) == Raised("", "the panel could not be set up", "", "")


@pytest.mark.parametrize(
    ("path", "package"),
    [
        (VLLM, "vllm"),
        ("/opt/verl/verl/workers/fsdp_workers.py", "verl"),
        ("python/ray/_raylet.pyx", "ray"),
        ("/usr/lib/python3.12/json/decoder.py", "python"),
        ("/home/me/own/train.py", ""),
        ("/home/me/verl/my_reward.py", ""),
        ("/home/me/verl/examples/reward/score.py", ""),
        ("/opt/verl/trainer/ppo/core.py", "verl"),
        ("/opt/verl/verl/single_controller/ray/base.py", "verl"),
        ("/root/SkyRL/skyrl/backends/skyrl_train/inference_servers/wrap.py", "skyrl"),
        ("/home/ray/SkyRL/skyrl/train/trainer.py", "skyrl"),
        ("/home/ray/skyrl/backends/skyrl_train/wrap.py", "skyrl"),
        ("/opt/verl/third_party/vllm/worker.py", "verl"),
        ("/opt/verl/vllm/vllm/worker.py", "vllm"),
    ],
)
def test_the_package_of_a_file(path: str, package: str) -> None:
    assert raising_package(path) == package


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            Raised("RuntimeError", "this build has no soft cap", "vllm", "0.11.0"),
            'vllm RuntimeError "this build has no soft cap"',
        ),
        (Raised("KeyError", "'input_ids'", "", ""), "KeyError input_ids"),
        (
            Raised("own.errors.OddError", "no row 4711 of /home/me/data.parquet is readable on 10.1.2.3", "own", ""),
            'own OddError "is readable on"',
        ),
        (Raised("", "", "", ""), ""),
        (
            Raised("ValueError", "the sampler got no rows (see the list of the rows in 'train.parquet", "", ""),
            'ValueError "the sampler got no rows"',
        ),
        (
            Raised("ValueError", "it can't take rows of shape (2, 'wide') here", "", ""),
            """ValueError "it can't take rows of shape\"""",
        ),
        (Raised("KeyError", "''", "", ""), ""),
        (Raised("AssertionError", "", "vllm", "0.11.0"), ""),
        (Raised("ValueError", "the sampler got no rows", "", "", "/home/me/own/a.py:3 in f"), ""),
        (
            Raised("TypeError", "unsupported operand type(s) for *: 'float' and 'NoneType'", "", ""),
            """TypeError "unsupported operand type(s) for *: 'float' and 'NoneType'\"""",
        ),
        (
            Raised("AttributeError", "'NoneType' object has no attribute 'generate'", "", ""),
            """AttributeError "'NoneType' object has no attribute 'generate'\"""",
        ),
        (
            Raised("UnboundLocalError", "local variable ‘rows’ referenced before assignment", "peft", ""),
            """peft UnboundLocalError "local variable 'rows' referenced before assignment\"""",
        ),
        (
            Raised(
                "RuntimeError",
                "a buffer was changed in place: [torch.cuda.FloatTensor [160, 128]] is at version 2; expected version 1 "
                "instead. Hint: enable the detection of anomalies to find the operation",
                "torch",
                "",
            ),
            'torch RuntimeError "a buffer was changed in place"',
        ),
        (
            Raised("RuntimeError", "the shapes cannot be joined (32x768 and 1024x512)", "torch", ""),
            'torch RuntimeError "the shapes cannot be joined"',
        ),
        (
            Raised("", "Scatter.cu:40: check_size: block: [0,0,0], thread: [7,0,0] Assertion `a <= b` failed.", "", ""),
            'check_size "a <= b"',
        ),
        (
            Raised("RateLimitError", "Error code: 429 - {'error': {'message': 'too many judges at once'}}", "", ""),
            'RateLimitError "too many judges at once"',
        ),
    ],
)
def test_the_search_text_has_nothing_of_this_run(error: Raised, text: str) -> None:
    assert search_text(error) == text
