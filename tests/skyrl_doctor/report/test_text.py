"""The plain text report."""

import dataclasses
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from report_samples import MIG, MIXED, NOTE, SLOW, failing, only
from skyrl_doctor.core.model import Outcome, RemedyKind, Severity, Status
from skyrl_doctor.report import text as plain_text
from skyrl_doctor.report.lines import MARGIN, View
from skyrl_doctor.report.model import Report
from skyrl_train.contracts.screen import USUAL as WIDTH

SHORT = """\
doctor:  0.1.0, host gpu-node-17, role gpu, target run.toml

ERROR    GPU001 run.toml:12: CUDA_VISIBLE_DEVICES names the device by its MIG
         UUID, but vLLM expects an index; fix: `export CUDA_VISIBLE_DEVICES=0`
WARNING  ENV002 the cache is on nfs4; use a local disk
INFO     GPU001 node gpu-node-17 failed once before
UNKNOWN  SLM001 walltime-mismatch: squeue: no answer within 5 s

NOTE     CFG001: waiver by "ops" (reason: a test) expired on 2026-01-31 and is
         ignored

MORE     -v prints each finding with its fix in full; `skyrl-doctor explain
         GPU001` explains one

verdict: fail (1 passed, 1 error, 1 warning, 1 info, 1 waived, 1 unknown; 2 do
         not apply here, see -v) in 0.50s
"""

WHOLE = """\
doctor:  0.1.0, host gpu-node-17, role gpu, target run.toml

ERROR    GPU001 mig-uuid
         CUDA_VISIBLE_DEVICES names the device by its MIG UUID, but vLLM expects
         an index
         at:   run.toml:12 (trainer.gpus)
         note: CUDA_VISIBLE_DEVICES=MIG-aaaaaaaa-0000-0000-0000-000000000001
         fix:  name it by its index (safe: it changes nothing outside this job)
               $ export CUDA_VISIBLE_DEVICES=0

WARNING  ENV002 triton-cache-on-network-fs
         the cache is on nfs4; use a local disk

INFO     GPU001 mig-uuid
         node gpu-node-17 failed once before

UNKNOWN  SLM001 walltime-mismatch: squeue: no answer within 5 s

SKIP     GPU003 gpu-memory-taken: waived by cluster team until 2027-01-31: the
         other job is ours
           error: another process holds 9.8 GiB of GPU 0
SKIP     POD001 POD002: runtime-node check; this is a GPU node

PASS     ENV001

NOTE     CFG001: waiver by "ops" (reason: a test) expired on 2026-01-31 and is
         ignored

MORE     skyrl-doctor explain GPU001
MORE     skyrl-doctor explain ENV002

verdict: fail (1 passed, 1 error, 1 warning, 1 info, 1 waived, 1 unknown; 2 do
         not apply here) in 0.50s
"""


def render(report: Report) -> str:
    """The report of -v."""
    return plain_text.render(report, View(verbose=True))


def test_the_whole_report() -> None:
    assert render(MIXED) == WHOLE


def test_a_finding_is_one_paragraph_and_passes_and_skips_are_counted() -> None:
    assert plain_text.render(MIXED) == SHORT


def test_quiet_prints_what_was_found_and_nothing_else() -> None:
    body = SHORT.split("\n\n")[1]
    assert plain_text.render(MIXED, View(quiet=True)) == f"{body}\n"
    clean = only(Outcome(id="ENV001", slug="x", status=Status.PASS))
    assert plain_text.render(clean, View(quiet=True)) == ""


def test_show_skips_adds_the_reasons_of_skips() -> None:
    text = plain_text.render(MIXED, View(skips=True))
    skips = "\n\n".join(part for part in WHOLE.split("\n\n") if part.startswith("SKIP"))
    assert text == SHORT.replace("\n\nNOTE", f"\n\n{skips}\n\nNOTE").replace("here, see -v)", "here)")


def test_a_wide_screen_has_a_finding_in_one_line() -> None:
    line = plain_text.render(MIXED, width=200).splitlines()[2]
    assert line.startswith("ERROR    GPU001 run.toml:12: ")
    assert line.endswith("; fix: `export CUDA_VISIBLE_DEVICES=0`")


def test_several_commands_are_left_to_the_full_report() -> None:
    assert MIG.remedy is not None
    remedy = dataclasses.replace(MIG.remedy, commands=("a", "b"), settings={})
    assert plain_text.render(failing("m", remedy=remedy)).splitlines()[2] == (
        "ERROR    ENV001 m; fix: name it by its index (-v prints the commands)"
    )


def test_the_full_report_names_the_page_of_a_failure() -> None:
    report = dataclasses.replace(failing("m"), pages={"ENV001": "https://pages/ENV001"})
    assert "         page: https://pages/ENV001" in render(report).splitlines()


def test_a_machine_alone_with_nothing_wrong() -> None:
    clean = dataclasses.replace(only(Outcome(id="ENV001", slug="x", status=Status.PASS)), targets=())
    assert render(clean) == (
        "doctor:  0.1.0, host gpu-node-17, role gpu, no target\n\nPASS     ENV001\n\nverdict: pass (1 passed) in 0.50s\n"
    )


def test_no_outcome_at_all_is_still_a_report() -> None:
    assert render(only()).splitlines()[-1] == "verdict: pass (no checks) in 0.50s"


def test_passes_are_wrapped() -> None:
    outcomes = [Outcome(id=f"GPU{number:03}", slug="x", status=Status.PASS) for number in range(30)]
    body = render(only(*outcomes)).splitlines()[2:5]
    assert body == [
        "PASS     " + " ".join(f"GPU{number:03}" for number in range(10)),
        "         " + " ".join(f"GPU{number:03}" for number in range(10, 20)),
        "         " + " ".join(f"GPU{number:03}" for number in range(20, 30)),
    ]


def test_unknown_outcomes_with_the_same_reason_share_a_line() -> None:
    reason = "podman: no answer within 5 s"
    outcomes = [Outcome(id=id_, slug="x", status=Status.UNKNOWN, reason=reason) for id_ in ("POD001", "POD002")]
    assert render(only(*outcomes)).splitlines()[2:] == [
        "UNKNOWN  POD001 POD002: podman: no answer within 5 s",
        "",
        "verdict: unknown (2 unknown) in 0.50s",
    ]


def test_an_expired_waiver_is_a_note_of_the_finding() -> None:
    outcome = Outcome(id="ENV002", slug="x", status=Status.FAIL, findings=(SLOW,), reason="the waiver expired")
    assert render(only(outcome)).splitlines()[2:5] == [
        "WARNING  ENV002 x",
        "         the cache is on nfs4; use a local disk",
        "         note: the waiver expired",
    ]


def test_a_verdict_on_warnings_says_so() -> None:
    outcome = Outcome(id="ENV002", slug="x", status=Status.FAIL, findings=(SLOW,))
    lenient, strict = only(outcome), only(outcome, fail_on=Severity.WARNING)
    assert render(lenient).splitlines()[-1] == "verdict: pass (1 warning) in 0.50s"
    assert render(strict).splitlines()[-1] == "verdict: fail (1 warning; --fail-on warning) in 0.50s"


def test_the_verdict_counts_each_finding_once() -> None:
    outcomes = [
        Outcome(id="ENV001", slug="x", status=Status.PASS),
        Outcome(id="ENV002", slug="x", status=Status.FAIL, findings=(SLOW, SLOW, NOTE)),
        Outcome(id="GPU001", slug="x", status=Status.FAIL, findings=(MIG, MIG, NOTE)),
    ]
    last = render(only(*outcomes)).splitlines()[-1]
    assert last == "verdict: fail (1 passed, 2 errors, 2 warnings, 2 infos) in 0.50s"


def test_what_may_be_pasted_is_never_cut() -> None:
    path = "/scratch/" + "long-directory-name/" * 6
    assert render(failing(f"the cache is {path}; wanted a local disk")).splitlines()[3:6] == [
        "         the cache is",
        f"         {path};",
        "         wanted a local disk",
    ]


def test_commands_of_several_lines_keep_them() -> None:
    assert MIG.remedy is not None
    remedy = dataclasses.replace(MIG.remedy, commands=("cat > x <<E\na\nE",), settings={}, safe=False)
    assert render(failing("m", remedy=remedy)).splitlines()[2:8] == [
        "ERROR    ENV001 triton-python-h",
        "         m",
        "         fix:  name it by its index",
        "               $ cat > x <<E",
        "                 a",
        "                 E",
    ]


def test_settings_without_a_command_are_printed() -> None:
    assert MIG.remedy is not None
    remedy = dataclasses.replace(MIG.remedy, kind=RemedyKind.FIX_CONFIG, settings={"rollout.n": "8"}, safe=False)
    assert render(failing("m", remedy=remedy)).splitlines()[4:7] == [
        "         fix:  name it by its index",
        "               $ export CUDA_VISIBLE_DEVICES=0",
        "               rollout.n = 8",
    ]


def test_colours_of_quoted_logs_are_taken_out() -> None:
    report = failing("\x1b[36m(pid=7)\x1b[0m died", evidence=("\x1b]8;;http://x\x07link\r\nnext\x07",))
    assert render(report).splitlines()[3:6] == [
        "         (pid=7) died",
        "         note: link",
        "               next\\x07",
    ]


@given(st.text(), st.text())
def test_whatever_is_quoted_no_line_carries_a_code_and_prose_fits(message: str, evidence: str) -> None:
    text = render(failing(message, evidence=(evidence,)))
    text.encode("utf-8")
    assert {character for character in text if unicodedata.category(character) == "Cc"} <= {"\n"}
    for line in text.split("\n"):
        assert len(line) <= WIDTH or " " not in line[MARGIN:].removeprefix("note: ").strip(" ")


def test_the_verdict_names_the_checks_that_could_not_decide() -> None:
    lack = "the rules of this program are not known"
    outcomes = [
        Outcome(id="ENV001", slug="triton-python-h", status=Status.PASS),
        *(Outcome(id=id_, slug="s", status=Status.SKIP, reason="r", undecided=lack) for id_ in ("CFG011", "CFG012")),
        Outcome(id="POD001", slug="p", status=Status.SKIP, reason="runtime-node check"),
    ]
    assert " ".join(plain_text.render(only(*outcomes)).rpartition("verdict: ")[2].split()) == (
        f"pass (1 passed; CFG011 CFG012 could not decide: {lack}; 1 does not apply here, see -v) in 0.50s"
    )
