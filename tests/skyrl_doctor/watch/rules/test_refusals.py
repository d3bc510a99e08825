"""Refused requests and a configuration that says why: together a root, alone none."""

from pathlib import Path

from skyrl_doctor.core.model import Location
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.watch.finding import Raised
from skyrl_doctor.watch.observations import Fault, Served
from skyrl_doctor.watch.read.access import Access
from skyrl_doctor.watch.rules import refusals, stall
from skyrl_doctor.watch.sample.configuration import configuration
from watching import brief, play, texts, ticks

EXAMPLES = Path(__file__).parents[4] / "examples" / "prime-rl-2025"
FAULT = Fault(
    at=0.0, id="CFG001", slug="max-tokens-exceed-context", message="max_tokens 4000 exceeds", file="run.toml", line=23
)


def served(at: float, refused: float, finished: float = 0.0) -> Served:
    return Served(at=at, url="vllm.log", refused=refused, finished=finished)


def test_both_together_are_a_root() -> None:
    (found,) = play(refusals.RULE, [FAULT, served(1.0, 1.0), served(2.0, 2.0), served(3.0, 3.0), served(4.0, 9.0)])
    assert isinstance(found, Raised)
    assert (found.at, found.id, found.root, found.finding.location) == (3.0, "CFG001", True, Location("run.toml", 23))
    assert found.finding.message == (
        "the inference server refused 3 requests and finished none since, and the configuration says why: "
        "max_tokens 4000 exceeds"
    )


def test_neither_alone_is_one() -> None:
    refused = [served(float(n), float(n)) for n in range(50)]
    assert play(refusals.RULE, refused) == []
    assert play(refusals.RULE, [FAULT, *(served(float(n), 2.0) for n in range(50))]) == []


def test_a_server_that_finishes_some_takes_it_back() -> None:
    some = [served(float(n), float(n), finished=float(n)) for n in range(50)]
    assert play(refusals.RULE, [FAULT, *some]) == []
    said = play(
        refusals.RULE, [FAULT, served(1.0, 5.0), served(2.0, 6.0, finished=1.0), served(3.0, 7.0, finished=1.0)]
    )
    assert brief(said) == [(1.0, "CFG001.refused.log.root"), (2.0, "-CFG001.refused.log.root")]


def test_the_stall_names_it() -> None:
    refused = [seen for tick in ticks(0, 100) for seen in (served(tick.at, tick.at), tick)]
    (text,) = texts(play(stall.RULE, [FAULT, *refused]))
    assert text.endswith("; the cause is CFG001 max-tokens-exceed-context, see the evidence")


def test_a_server_s_own_log_tells_what_it_refuses_and_makes() -> None:
    access = Access()
    refused = b'(APIServer pid=1) INFO:     127.0.0.1:49748 - "POST /v1/chat/completions HTTP/1.1" 400 Bad Request\n'
    fine = b'INFO:     127.0.0.1:4 - "POST /v1/completions HTTP/1.1" 200 OK\n'
    other = b'INFO: 1 - "GET /metrics HTTP/1.1" 404 Not Found\nINFO: 1 - "POST /start HTTP/1.1" 400 Bad Request\n'
    made = (
        b"Engine 000: Avg prompt throughput: 1.9 tokens/s, Avg generation throughput: 12.5 tokens/s, Running: 2 reqs\n"
    )
    assert list(access.take("v", other + b"fine\n", 1.0)) == []
    assert list(access.take("v", refused * 2 + other, 1.0)) == [
        Served(at=1.0, url="v", generated_tokens=0.0, finished=0.0, refused=2.0, failed=0.0)
    ]
    assert list(access.take("v", refused + fine + made, 2.0)) == [
        Served(at=2.0, url="v", generated_tokens=125.0, finished=1.0, refused=3.0, failed=0.0)
    ]


def test_the_configuration_of_the_seed_s_run_fails_its_own_check(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_bytes((EXAMPLES / "v4.toml").read_bytes())
    (fault,) = configuration(str(tmp_path), ())(LocalMachine(), 3.0)
    assert fault == Fault(
        at=3.0,
        id="CFG001",
        slug="max-tokens-exceed-context",
        message="max_tokens 4000 beside prompts of 2048 tokens (orchestrator.seq_len) exceeds max_model_len 4096; wanted at most 2048",
        file=str(tmp_path / "run.toml"),
        line=23,
    )
