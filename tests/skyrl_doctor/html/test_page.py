"""The report page: what it shows of each kind of source, and that nothing in it can run or leave it."""

import dataclasses
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from job_samples import ATTACK, SECRET, gate_report, make_job
from skyrl_doctor.cli.app import dispatch
from skyrl_doctor.core.model import Outcome, Status
from skyrl_doctor.html.clean import cleaned
from skyrl_doctor.html.page import render, verdict
from skyrl_doctor.html.subject import Examined, Subject, read_subject
from skyrl_doctor.html.timeline import cost

URLS = re.compile(r"^(?:#|$)")


class Structure(HTMLParser):
    """The elements of a page, its visible text, and all attributes that could load or run something."""

    VOID = frozenset({"meta", "br", "col", "rect", "path", "line", "polyline", "circle"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: set[str] = set()
        self.text: list[str] = []
        self.risky: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name.startswith("on") or name in ("src", "srcset", "style", "action", "xlink:href", "data"):
                self.risky.append(f"{tag} {name}")
            if name == "href":
                self.links.append(value or "")
            if name == "id":
                self.ids.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text.append(data)


def structure(page: str) -> Structure:
    found = Structure()
    found.feed(page)
    found.close()
    assert found.open == []
    return found


def page_of(source: Path) -> str:
    return render(read_subject(str(source)), made="now")


@pytest.fixture
def job(tmp_path: Path) -> Path:
    return make_job(tmp_path / "job")


def test_the_page_of_a_job_has_every_section(job: Path) -> None:
    page = page_of(job)
    titles = re.findall(r"<h2 [^>]*>([^<]*)</h2>", page)
    assert titles == [
        "Cause and consequences",
        "Findings: gate of the trainer",
        "Timeline",
        "Training steps",
        "Rollouts",
        "Configuration",
        "Environment",
    ]
    assert "MEM002 backward-out-of-memory" in page
    assert re.findall(r"<figcaption><b>([^<]*)</b>", page)[:4] == [
        "Phases of the steps",
        "Timeline",
        "reward",
        "response length",
    ]
    assert "1 not finite" in page


def test_nothing_in_the_page_can_run_or_load(job: Path) -> None:
    found = structure(page_of(job))
    assert found.names & {"script", "iframe", "object", "embed", "link", "img", "base", "form", "input"} == set()
    assert found.risky == []
    assert [link for link in found.links if not URLS.match(link)] == []


def test_a_text_of_a_log_is_text(job: Path) -> None:
    page = page_of(job)
    assert "<script>window.owned = 1</script>" in "".join(structure(page).text)
    assert [char for char in "\x1b\x00\x07\u202e\x9b" if char in page] == []


def test_the_policy_forbids_scripts_and_names_the_style(job: Path) -> None:
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page_of(job))
    assert re.fullmatch(
        r"default-src &#x27;none&#x27;; style-src &#x27;sha256-[\w+/=]{44}&#x27;; "
        r"base-uri &#x27;none&#x27;; form-action &#x27;none&#x27;",
        policy,
    )


def test_each_link_leads_to_an_element(job: Path) -> None:
    found = structure(page_of(job))
    assert len(found.ids) == len(set(found.ids))
    assert {link.removeprefix("#") for link in found.links} - set(found.ids) == set()
    assert "#config-0-11" in found.links  # the finding's line of the configuration


def test_each_picture_has_words(job: Path) -> None:
    page = page_of(job)
    pictures = re.findall(r"<svg [^>]*>", page)
    assert len(pictures) > 8
    assert [one for one in pictures if 'role="img"' not in one or not re.search(r'aria-label="[^"]{8}', one)] == []


def test_no_secret_is_in_the_page(job: Path, tmp_path: Path) -> None:
    assert SECRET in (job / "training_42.out").read_text()
    (job / "config.toml").write_text(f'[data]\napi_key = "{SECRET}"\n')
    out = tmp_path / "report.html"
    assert dispatch(["report", str(job), "-o", str(out)]) == 0
    assert SECRET not in out.read_text(encoding="utf-8")
    assert "api_key" in out.read_text(encoding="utf-8")


def test_long_paths_of_a_picture_are_complete(tmp_path: Path) -> None:
    page = page_of(make_job(tmp_path / "job", steps=400, prompts=1, samples=1))
    assert "letters left out" not in page
    assert "characters left out" not in page
    (points,) = re.findall(r'aria-label="reward:[^>]*>.*?<polyline class="c0" points="([^"]*)"', page)
    assert len(points.split()) == 400


def test_the_page_of_500_steps_of_16_rollouts_is_small(tmp_path: Path) -> None:
    page = page_of(make_job(tmp_path / "job", steps=500, prompts=4, samples=4, attack="ordinary text"))
    assert len(page.encode()) < 3_000_000
    assert page.count("h") > 8000


def test_a_huge_line_of_a_log_is_clipped(job: Path) -> None:
    with (job / "training_42.out").open("a", encoding="utf-8") as log:
        log.write("x" * (10 << 20) + "\nRuntimeError: " + "y" * (10 << 20) + "\n")
    assert len(page_of(job)) < 400_000


def test_a_preflight(tmp_path: Path) -> None:
    path = tmp_path / "preflight.json"
    path.write_text(json.dumps(gate_report()), encoding="utf-8")
    assert verdict(read_subject(str(path))) == ("fail", "fail", "1 error in 1 examination.")
    assert "lower max_tokens" in page_of(path)


def test_several_runs(tmp_path: Path) -> None:
    path = tmp_path / "preflight.json"
    runs = {"schema": 1, "verdict": "fail", "runs": [gate_report(), gate_report()], "refused": []}
    path.write_text(json.dumps(runs), encoding="utf-8")
    assert len(re.findall("<h2 ", page_of(path))) == 2


def test_a_diagnosis(job: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["diagnose", str(job / "training_42.out"), "--format", "json"]) == 1
    path = tmp_path / "diagnosis.json"
    path.write_text(capsys.readouterr().out, encoding="utf-8")
    word, style, sentence = verdict(read_subject(str(path)))
    assert (word, style) == ("failed", "fail")
    assert sentence.startswith("MEM002 backward-out-of-memory: ")


def test_a_log(job: Path) -> None:
    page = page_of(job / "training_42.out")
    assert re.findall(r"<h2 [^>]*>([^<]*)</h2>", page) == [
        "Cause and consequences",
        "Timeline",
        "Training steps",
    ]


@pytest.fixture
def nan_log(tmp_path: Path) -> Path:
    log = tmp_path / "nan.log"
    lines = [f"step:{at} - actor/grad_norm:{'nan' if at > 2 else 0.2}" for at in range(1, 6)]
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return log


def test_a_run_with_nan_in_its_steps_failed(nan_log: Path) -> None:
    message = "from step 3 on, in 3 of 3 steps: actor/grad_norm is nan; expected finite numbers"
    assert verdict(read_subject(str(nan_log))) == ("failed", "fail", f"TRN005 metrics-not-finite: {message}")
    page = page_of(nan_log)
    assert re.findall(r"<h2 [^>]*>([^<]*)</h2>", page) == [
        "Cause and consequences",
        "Faults of the training steps",
        "Timeline",
        "Training steps",
    ]
    assert f"<code>{nan_log}:3</code>: {message}" in page


def test_a_job_and_a_stored_diagnosis_show_the_faults_of_the_steps(
    nan_log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    faults = read_subject(str(nan_log)).faults
    assert [(fault.id, fault.step, fault.line, fault.is_error) for fault in faults] == [("TRN005", 3, 3, True)]
    assert read_subject(str(tmp_path)).faults == faults
    assert dispatch(["diagnose", str(nan_log), "--format", "json"]) == 1
    stored = tmp_path / "diagnosis.json"
    stored.write_text(capsys.readouterr().out, encoding="utf-8")
    assert read_subject(str(stored)).faults == faults


def test_a_completed_run_with_rewards_of_0_has_a_warning(tmp_path: Path) -> None:
    log = tmp_path / "zero.log"
    log.write_text("".join(f"step:{at} - actor/grad_norm:0.0\n" for at in range(1, 8)), encoding="utf-8")
    found = verdict(read_subject(str(log)))
    assert found == ("warning", "warning", f"The steps show 1 fault: {read_subject(str(log)).faults[0].id}.")


def test_a_failure_without_a_remedy_of_its_own_has_that_of_its_page(tmp_path: Path) -> None:
    log = Path(__file__).parents[2] / "logs/SLM012/preempted.log"
    out = tmp_path / "report.html"
    assert dispatch(["report", str(log), "-o", str(out)]) == 0
    assert "What to do" in out.read_text()


def test_a_script_is_no_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "train.sh"
    script.write_text("python -m verl.trainer.main_ppo\n")
    out = tmp_path / "report.html"
    assert dispatch(["report", str(script), "-o", str(out)]) == 2
    assert f"skyrl-doctor preflight {script}" in capsys.readouterr().err
    assert not out.exists()


def test_the_key_of_a_jobs_runtime_is_not_in_the_page(job: Path, tmp_path: Path) -> None:
    key = "correct horse battery"
    (job / "runtime_api_key.txt").write_text(f"{key}\n")
    log = job / "training_42.out"
    log.write_text(log.read_text().replace("torch.OutOfMemoryError", f"{key} torch.OutOfMemoryError"))
    assert key in log.read_text()
    out = tmp_path / "report.html"
    assert dispatch(["report", str(job), "-o", str(out)]) == 0
    assert key not in out.read_text()


def test_a_recorded_machine(tmp_path: Path) -> None:
    machines = Path(__file__).parents[2] / "machines"
    recording = next(path for path in sorted(machines.iterdir()) if (path / "machine.json").exists())
    out = tmp_path / "report.html"
    assert dispatch(["report", str(recording), "-o", str(out)]) == 0
    assert "Findings: the recorded machine" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (str, "No such file"),
        (lambda path: path.mkdir(), "holds no job, recording or log"),
        (lambda path: path.write_text('{"a": 1}'), "is JSON, but not a report"),
        (lambda path: path.write_text('{"outcomes": 3}'), "is not a report of this version"),
        (lambda path: path.write_text("hello\nworld\n"), "is not a log: no line has a time, a level"),
        (lambda path: path.write_text('{"task_id": "a", "steps": []}\n{"task_id": "b"}\n'), "is not a log: no line"),
        (lambda path: path.touch(), "is empty; expected a job directory"),
    ],
)
def test_what_is_not_recognised_is_refused(
    make: object, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "source"
    assert callable(make)
    make(path)
    assert dispatch(["report", str(path), "-o", str(tmp_path / "report.html")]) == 2
    assert reason in capsys.readouterr().err
    assert not (tmp_path / "report.html").exists()


def test_an_unknown_job_says_unknown(tmp_path: Path) -> None:
    (tmp_path / "jobs.json").write_text("{}")
    page = page_of(tmp_path)
    assert "<dt>duration</dt><dd>unknown</dd>" in page
    assert "No events: the job was not watched." in page


def test_redaction_reaches_each_text() -> None:
    assert cleaned({"a": ("x", ["secret"])}, lambda text: text.replace("secret", "-")) == {"a": ("x", ["-"])}


def test_the_attack_would_show() -> None:
    assert {"<script>", "\u202e", "\x1b"} <= {part for part in ("<script>", "\u202e", "\x1b") if part in ATTACK}


def test_the_page_counts_as_the_terminal_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "run.toml"
    target.write_text('[model]\npath = "m"\n\n[rollout]\nmax_tokens = 9000\n\n[slurm]\nsignal_before_end_s = 0\n')
    asked = ["preflight", "--structure-only", "--settings", "none", str(target)]
    assert dispatch([*asked, "-v"]) == 1
    text = capsys.readouterr().out
    assert dispatch([*asked, "--format", "json", "--output", str(tmp_path / "found.json")]) == 1
    (counted,) = re.findall(
        r"^verdict: fail \((.*?); (\d+) do not apply here", " ".join(text.split("\n         ")), re.MULTILINE
    )
    wanted = f"{counted[0]}, {counted[1]} skipped"
    assert re.findall(r"> (\d+ passed, [^<]*)<", page_of(tmp_path / "found.json")) == [wanted]


OOM = "step:1 - actor/pg_loss:0.1\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 19.50 GiB\n"


def test_the_configuration_of_a_log_stands_beside_the_cause(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, script, page = tmp_path / "train.log", tmp_path / "train.sh", tmp_path / "report.html"
    log.write_text(OOM, encoding="utf-8")
    script.write_text("python3 -m verl.trainer.main_ppo actor_rollout_ref.rollout.gpu_memory_utilization=0.9\n")
    assert dispatch(["report", str(log), "-o", str(page)]) == 0
    assert "In your configuration" not in page.read_text(encoding="utf-8")
    assert dispatch(["report", str(log), "--config", str(script), "-o", str(page)]) == 0
    text = "\n".join(structure(page.read_text(encoding="utf-8")).text)
    told = text.partition("In your configuration")[2].partition("What to do")[0]
    assert f"actor_rollout_ref.rollout.gpu_memory_utilization = 0.9 ({script}:1)" in told


def test_a_job_is_judged_with_its_own_copy_of_the_configuration(job: Path) -> None:
    told = page_of(job).partition("In your configuration")[2].partition("What to do")[0]
    assert "data.max_prompt_tokens = 2048" in told


def test_a_configuration_beside_a_finished_report_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "preflight.json"
    source.write_text(json.dumps(gate_report()), encoding="utf-8")
    assert dispatch(["report", str(source), "--config", "x.sh"]) == 2
    assert "--config is for a log or a job directory" in capsys.readouterr().err


def test_an_unknown_error_has_what_is_known_of_it(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(
        "Traceback (most recent call last):\n"
        '  File "/e/lib/python3.12/site-packages/frobnic/core.py", line 7, in spin\n    go()\n'
        "frobnic.errors.SpinError: the spindle of 12 turned by 7 degrees\n",
        encoding="utf-8",
    )
    text = "\n".join(structure(page_of(log)).text)
    assert "Raised by frobnic." in text
    assert "Search the web for: " in text


def test_the_verdict_names_the_checks_that_could_not_run() -> None:
    unknown = [Outcome(id=id_, slug="x", status=Status.UNKNOWN, reason="no answer") for id_ in ("GPU001", "IMG001")]
    examined = Examined(title="preflight", verdict="unknown", outcomes=tuple(unknown))
    subject = Subject(name="x", kind="preflight", examined=(examined,))
    assert verdict(subject)[2] == "2 checks could not run: GPU001, IMG001."


def test_a_log_without_slurm_gives_the_time_and_the_gpus(tmp_path: Path) -> None:
    steps = "".join(f"step:{number} - actor/entropy:0.3 - timing_s/step:{140 + number}.0\n" for number in range(1, 19))
    log = tmp_path / "train.log"
    log.write_text(f"+ python3 -m verl.trainer.main_ppo trainer.n_gpus_per_node=8 trainer.nnodes=2\n{steps}")
    expected = [
        ("duration", "45 min (its steps)"),
        ("GPUs", "16 (the command in the log)"),
        ("GPU-hours", "11.96"),
        ("steps", "18"),
    ]
    for source in (log, tmp_path):
        page = page_of(source)
        (shown,) = re.findall(r"<dl>(.*?)</dl>", page)
        assert re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", shown) == expected
        assert f'<p class="kind">{" · ".join(f"{name} {value}" for name, value in expected)}</p>' in page


def test_the_clocks_of_a_log_tell_how_long_it_lasted(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    first = "INFO 03-02 09:00:00 [a.py:1] start\nstep:1 - timing_s/step:140.0\n"
    last = "INFO 03-02 09:32:00 [a.py:1] end\n"
    log.write_text(f"{first}{last}", encoding="utf-8")
    for source in (log, tmp_path):
        job = read_subject(str(source)).job
        assert job is not None
        assert next(cost(job)) == ("duration", "32 min (by the clocks of a log)")


def test_the_clocks_of_a_log_with_several_runs_tell_of_none(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    run = (
        "2026-03-02 {hour}:00:00,120\tINFO worker.py:1942 -- Started a local Ray instance.\n"
        "step:1 - timing_s/step:140.0\nValueError: no row\nINFO:     Application shutdown complete.\n"
    )
    log.write_text("".join(run.format(hour=hour) for hour in ("09", "15")), encoding="utf-8")
    job = read_subject(str(log)).job
    assert job is not None
    assert next(cost(job)) == ("duration", "2 min (its steps)")


def test_a_watch_that_came_late_is_not_the_time_of_the_job(tmp_path: Path) -> None:
    event = {"schema": 1, "time": "", "policy": "report", "why": "--once: one pass is complete"}
    marks = [{**event, "event": "start", "at": 5000.0}, {**event, "event": "end", "at": 5004.0}]
    (tmp_path / "events.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in marks), encoding="utf-8")
    (tmp_path / "verdict.json").write_text(json.dumps({"gpus": ["0", "1"]}), encoding="utf-8")
    steps = "".join(f"step:{at} - actor/grad_norm:0.2 - timing_s/step:900.0\n" for at in range(1, 4))
    (tmp_path / "train.log").write_text(steps, encoding="utf-8")
    job = read_subject(str(tmp_path)).job
    assert job is not None
    whole = [("GPUs", "2"), ("GPU-hours", "1.50"), ("steps", "3"), ("watched", "4 s of it")]
    assert list(cost(job)) == [("duration", "45 min (its steps)"), *whole]
    after = [("after the root cause", "2.0 h (by the clocks of the logs)"), ("GPU-hours after it", "4.00")]
    wasted = dataclasses.replace(job, wasted_s=7200.0, wasted_from="the clocks of the logs")
    assert list(cost(wasted)) == [
        ("duration", "2.0 h or more (from the root cause on)"),
        ("GPUs", "2"),
        ("GPU-hours", "4.00"),
        *whole[2:],
        *after,
    ]
    survived = dataclasses.replace(job, outages="1 outage survived, 35 s without new rollouts: 1 x refused")
    assert list(cost(survived))[3:5] == [("steps", "3"), ("sandbox infrastructure", survived.outages)]


def test_the_weight_probe_is_plotted(tmp_path: Path) -> None:
    lines = (f"step:{at} - actor/grad_norm:0.2 - weights/probe_difference:0.00{at}\n" for at in (4, 5))
    (tmp_path / "train.log").write_text("".join(lines), encoding="utf-8")
    page = page_of(tmp_path / "train.log")
    assert re.findall(r"<figcaption><b>weight probe</b> (.*?)</figcaption>", page) == ["0.005 at the last step"]


def test_a_command_without_gpus_leaves_them_unknown(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text("+ python3 train.py\nstep:1 - timing_s/step:10.0\n")
    assert "<dt>GPUs</dt><dd>unknown</dd>" in page_of(tmp_path / "train.log")


SURVIVED = "".join(
    f"step:{step} - actor/grad_norm:0.2\nERROR:2025-09-15 15:36:24,702:Sandbox API call {step} failed.\n"
    for step in range(1, 9)
)


def test_survived_errors_and_the_last_step_are_in_the_headline(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "train.log"
    log.write_text(f"{SURVIVED}step:9 - actor/grad_norm:0.2\nstep:10 - actor/grad_norm:0.2\n", encoding="utf-8")
    counted = "No known failure was found. 8 lines show an error."
    assert verdict(read_subject(str(log))) == (
        "no failure found",
        "unknown",
        f"{counted} The log stops at step 10.",
    )
    assert dispatch(["diagnose", str(log), "--format", "json"]) == 0
    stored = tmp_path / "diagnosis.json"
    stored.write_text(capsys.readouterr().out, encoding="utf-8")
    assert verdict(read_subject(str(stored))) == ("no failure found", "unknown", counted)
    assert dispatch(["diagnose", str(log)]) == 0
    assert capsys.readouterr().out.startswith("No known failure found in 1 file. 8 lines show an error.\n")


def test_a_log_without_an_error_says_where_it_stops(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("step:1 - actor/grad_norm:0.2\n", encoding="utf-8")
    assert verdict(read_subject(str(log)))[2] == (
        "No known failure and no error was found in the logs. The log stops at step 1."
    )
