"""Every example: the working ones have no error, each failing one gives exactly the findings that its story tells."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from plans import ROOT, alone, example
from skyrl_doctor.core.model import Severity
from skyrl_doctor.structure_only import config_only
from support import registry

OLD = "examples/prime-rl-2025"
SKYRL = ("examples/skyrl-agent/dev.conf", "examples/skyrl-agent/verl_oh.yaml")
LONG = ("examples/skyrl-agent/long_context.conf", "examples/skyrl-agent/long_context.yaml")
HALF = "examples/prime-rl/half_migrated.toml"
BROKEN = "examples/verl/grpo_broken.sh"
PRODUCTION = sorted((ROOT / "examples" / "production").glob("*.toml"))
"""tests/test_production_examples.py has more about them."""
Told = tuple[str, str, str, int | None, str]
E, W, NOTE = "error", "warning", "info"


def notice(file: str, line: int) -> Told:
    """The old schema is told of once a file."""
    return ("PRM007", NOTE, file, line, "inference_gpu_ids")


EXAMPLES: dict[tuple[str, ...], list[Told]] = {
    ("examples/mig20.toml",): [],
    **{(str(path.relative_to(ROOT)),): [] for path in PRODUCTION},
    ("examples/verl/grpo_mig20.sh",): [],
    ("examples/prime-rl/two_gpus.toml",): [],
    SKYRL: [
        ("AGT014", W, SKYRL[1], 10, "generator.sampling_params.stop"),
        ("AGT020", W, SKYRL[1], 5, "generator.max_prompt_length"),
    ],
    LONG: [
        ("CFG001", E, LONG[0], 17, "MAX_MODEL_LEN"),
        ("CFG002", E, LONG[0], 13, "BATCH_SIZE"),
        ("CFG003", E, LONG[1], 3, "generator.num_trajectories"),
        ("RUN005", W, LONG[1], 10, "dispatcher.max_parallel_agents"),
        ("SLM001", E, LONG[0], 10, "RUNTIME_TIME_LIMIT"),
    ],
    (f"{OLD}/first.toml",): [
        ("PRM002", E, f"{OLD}/first.toml", 3, "seq_len"),
        ("PRM003", E, f"{OLD}/first.toml", 19, "orchestrator.sampling.top_p"),
        ("PRM004", E, f"{OLD}/first.toml", 22, "orchestrator.buffer.type"),
        ("PRM005", E, f"{OLD}/first.toml", 24, "orchestrator.env"),
        ("PRM006", E, f"{OLD}/first.toml", 10, "trainer.model.experimental.lora"),
        notice(f"{OLD}/first.toml", 4),
    ],
    (f"{OLD}/gpt_oss.toml",): [
        ("CFG001", E, f"{OLD}/gpt_oss.toml", 19, "orchestrator.sampling.max_tokens"),
        notice(f"{OLD}/gpt_oss.toml", 3),
    ],
    (f"{OLD}/v1.toml",): [("MEM004", W, f"{OLD}/v1.toml", 9, "trainer.model"), notice(f"{OLD}/v1.toml", 2)],
    (f"{OLD}/v2.toml",): [
        notice(f"{OLD}/v2.toml", 2),
        ("TRN003", E, f"{OLD}/v2.toml", 11, "trainer.model.fsdp_cpu_offload"),
    ],
    (f"{OLD}/v3.toml",): [("PRM001", E, f"{OLD}/v3.toml", 11, "trainer.model.ac"), notice(f"{OLD}/v3.toml", 2)],
    (f"{OLD}/v4.toml",): [
        ("CFG001", E, f"{OLD}/v4.toml", 23, "orchestrator.sampling.max_tokens"),
        notice(f"{OLD}/v4.toml", 2),
    ],
    (f"{OLD}/v5.toml",): [notice(f"{OLD}/v5.toml", 2)],
    (HALF,): [
        ("CFG001", E, HALF, 23, "orchestrator.train.sampling.max_completion_tokens"),
        ("CFG002", E, HALF, 17, "orchestrator.batch_size"),
        ("PRM001", E, HALF, 14, "trainer.model.ac"),
        ("PRM003", E, HALF, 24, "orchestrator.train.sampling.top_p"),
        ("PRM007", E, HALF, 19, "orchestrator.rollouts_per_example"),
        ("PRM007", E, HALF, 27, "inference.gpu_memory_utilization"),
        ("PRM008", E, HALF, 10, "deployment.gpus_per_node"),
    ],
    (BROKEN,): [
        ("CFG001", E, BROKEN, 15, "actor_rollout_ref.rollout.max_model_len"),
        ("CFG002", E, BROKEN, 7, "data.train_batch_size"),
        ("CFG002", E, BROKEN, 11, "actor_rollout_ref.actor.ppo_mini_batch_size"),
        ("CFG004", W, BROKEN, 17, "ray_init.num_cpus"),
        ("CFG004", E, BROKEN, 20, "trainer.total_epochs"),
    ],
}


def told(files: tuple[str, ...]) -> list[Told]:
    made = example(*files)
    checks, _ = config_only(registry().checks)
    outcomes = [alone(check.id, made) for check in checks]
    assert [outcome.reason for outcome in outcomes if outcome.status == "unknown"] == []
    return [
        (outcome.id, finding.severity.word, place.file, place.line, place.key or "")
        for outcome in outcomes
        for finding in outcome.findings
        if (place := finding.location) is not None
    ]


@pytest.mark.parametrize("files", sorted(EXAMPLES), ids=lambda files: files[0])
def test_exactly_these_findings(files: tuple[str, ...]) -> None:
    assert told(files) == EXAMPLES[files]


def test_every_example_is_listed() -> None:
    found = [path.relative_to(ROOT) for path in (ROOT / "examples").rglob("*.*") if path.suffix != ".md"]
    files = {str(path) for path in found if path.parts[1] != "tutorial"}  # tests/test_tutorial.py runs those
    assert sorted(files) == sorted(file for names in EXAMPLES for file in names)


def test_the_report_names_id_file_line_and_key() -> None:
    command = [sys.executable, "-m", "skyrl_doctor", "preflight", HALF, "--format", "json", "--select", "PRM001,PRM003"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=ROOT, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    report = json.loads(done.stdout)
    assert [
        (outcome["id"], finding["location"]) for outcome in report["outcomes"] for finding in outcome["findings"]
    ] == [
        ("PRM001", {"file": HALF, "line": 14, "key": "trainer.model.ac"}),
        ("PRM003", {"file": HALF, "line": 24, "key": "orchestrator.train.sampling.top_p"}),
    ]


def test_a_working_example_passes_at_its_severity() -> None:
    severities = {line[1] for line in EXAMPLES[SKYRL]}
    assert severities == {Severity.WARNING.word}


def test_a_byte_order_mark_does_not_matter_to_the_command_either(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_bytes(b"\xef\xbb\xbf" + (ROOT / "examples/mig20.toml").read_bytes())
    command = [sys.executable, "-m", "skyrl_doctor", "preflight", str(file), "--select", "CFG001", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=ROOT, check=False)
    assert (done.returncode, done.stderr) == (0, "")
