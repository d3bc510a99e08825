"""Signatures cost a preflight no more than their texts, and a table comes before the files of the failures."""

import subprocess
import sys

from checks.refusals import EXPLAIN
from skyrl_doctor.logs.judge.files import scan_chunks
from skyrl_doctor.logs.match.patterns import Patterns
from skyrl_doctor.logs.match.signatures import load_signatures

_ASK = """
import re, sys
from skyrl_doctor.core.registry import discover
compiled = re.compile
re.compile = lambda pattern, *flags: patterns.append(pattern) or compiled(pattern, *flags)
patterns = []
discover()
from checks.gpu.mig_uuid import SIGNATURES
print([name for name in sys.modules if name.startswith("skyrl_doctor.logs")], SIGNATURES[0].pattern in patterns)
"""


def test_a_preflight_reads_no_log_and_compiles_no_signature() -> None:
    done = subprocess.run([sys.executable, "-c", _ASK], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout == "[] False\n"


def test_a_refusal_by_id_is_explained_as_one_whatever_other_words_it_holds() -> None:
    line = "skyrl-train job: trainer: the gate refused: GPU001 Non-integer device ID 'MIG-8a5c0f1e'; wanted 0"
    found = scan_chunks("x.log", [f"{line}\n".encode()], Patterns(load_signatures()))
    assert [(hit.failure.name, hit.failure.signature.explain) for hit in found.hits] == [("GPU001", EXPLAIN)]
