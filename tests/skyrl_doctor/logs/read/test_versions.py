"""The versions that a log names at its start."""

from skyrl_doctor.logs.read.versions import LIMIT, find_versions


def test_versions_are_found_in_the_words_of_programs() -> None:
    text = (
        b"Initializing a V1 LLM engine (v0.11.0) with config\n + torch==2.8.0\nSuccessfully installed ray-2.51.1 trl-0.9\n"
        b"NCCL version 2.21.5+cuda12.4\nverl version: 0.9.1\n"
    )
    assert find_versions(text) == {
        "vllm": "0.11.0",
        "torch": "2.8.0",
        "ray": "2.51.1",
        "trl": "0.9",
        "nccl": "2.21.5+cuda12.4",
        "verl": "0.9.1",
    }


def test_the_first_one_counts_and_only_the_start_is_read() -> None:
    assert find_versions(b"torch==2.8.0 torch==2.9.0") == {"torch": "2.8.0"}
    assert find_versions(b"x" * LIMIT + b" torch==2.9.0") == {}
    assert find_versions(b"a == b, 1.2.3 == 4") == {}
