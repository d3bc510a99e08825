"""MOD005: a request for access that is open, or was rejected."""

from pathlib import Path

import pytest

from skyrl_doctor.logs.diagnose import diagnose
from skyrl_doctor.logs.sentences import explain

LOGS = Path(__file__).parents[2] / "logs" / "MOD005"
PENDING = (
    "your request for access to meta-llama/Llama-3.1-8B-Instruct is not approved yet; the token itself is accepted"
)
REJECTED = "the authors rejected your request for access to google/gemma-3-4b-it; another token of this account changes nothing"
NO_TOKEN = "the hub gives this model only to accounts that accepted its licence, and this job has no such token"


@pytest.mark.parametrize(("name", "cause"), [("awaiting_review", PENDING), ("rejected", REJECTED), ("gated", NO_TOKEN)])
def test_a_request_for_access_is_not_a_missing_token(name: str, cause: str) -> None:
    root = diagnose([str(LOGS / f"{name}.log")]).diagnosis.root
    assert root is not None
    assert (root.failure.name, explain(root)) == ("MOD005", cause)
