"""The contract with the frameworks' formats, on small sources of our own that print as they do."""

from pathlib import Path

import pytest

from benchmarks.formats import FIGURES, examine, main, sources
from skyrl_doctor.watch.figures import Figure

VERL = """
def to_text(data, step):
    parts = [f"step:{step}"]
    for k, v in data.items():
        parts.append(f"{k}:{v}")
    return " - ".join(parts)
"""
PRIME_RL = """
def log(step, seconds, loss, norm):
    message = f"Step {progress.step} | {format_time(seconds):>7} | Loss {loss:.4f} | Entropy {loss:.4f}"
    message += f" | Mismatch KL {loss:.4f}"
    if norm is not None:
        message += f" | Grad. Norm {norm:.4f}"
    logger.success(message)

def log_batch(step, seconds):
    head = (
        f"Step {step} | {format_time(seconds):>7} | Reward {r:.4f} | Trainable {a}/{b} ({c:.1%}) | "
        f"Error {e:.1%} | Cancelled {x:.1%} | Truncation {t:.1%}"
    )
    return head
"""
SKYRL = """
class Console:
    def log(self, data, step):
        logger.info(f"Step {step}: \\n{pformat(data)}")

def status(loss):
    return {"final_loss": loss, "policy_loss": loss}
"""
KEYS = {
    "verl": "algorithm: {rollout_correction: {rollout_is: null}}",
    "prime_rl": "orchestrator: {max_off_policy_steps: 8}",
    "skyrl": "trainer: {algorithm: {off_policy_correction: {tis_ratio_type: null}}}",
}


def names(of: str) -> str:
    figures: dict[str, Figure] = FIGURES
    return f"NAMES = {[name for one in figures.values() for name in getattr(one, of)]!r}\n"


GOOD = {
    "verl": {"verl/log.py": VERL, "verl/names.py": names("verl"), "verl/ppo.yaml": KEYS["verl"]},
    "prime-rl": {"src/prime_rl/train.py": PRIME_RL, "src/prime_rl/rl.yaml": KEYS["prime_rl"]},
    "SkyRL": {
        "skyrl/log.py": SKYRL,
        "skyrl/names.py": names("skyrl"),
        "skyrl/base.yaml": KEYS["skyrl"],
        "agent/verl/x.py": "",
    },
}


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize(("framework", "count"), [("verl", 1), ("prime-rl", 2), ("SkyRL", 2)])
def test_today_s_formats_are_read(tmp_path: Path, framework: str, count: int) -> None:
    result = examine(sources(write(tmp_path, GOOD[framework])))
    assert (result.framework, len(result.lines), result.missing, result.is_good) == (framework, count, [], True)
    assert main([str(tmp_path)]) == 0


@pytest.mark.parametrize(
    ("framework", "file", "old", "new", "missing"),
    [
        ("verl", "verl/log.py", 'f"step:{step}"', 'f"iteration {step}"', ["step line: step:3 - "]),
        ("verl", "verl/names.py", "actor/grad_norm", "actor/gradient", ["GRADIENT: actor/grad_norm"]),
        (
            "verl",
            "verl/ppo.yaml",
            "rollout_is",
            "weights",
            ["advised key: algorithm.rollout_correction.rollout_is"],
        ),
        ("prime-rl", "src/prime_rl/train.py", "Grad. Norm {norm:.4f}", "Norm={norm:.4f}", ["GRADIENT: Grad. Norm"]),
        ("SkyRL", "skyrl/log.py", "Step {step}: \\n", "After {step}: ", ["step line: Step 3: {"]),
    ],
)
def test_a_format_that_has_gone_is_found(
    tmp_path: Path, framework: str, file: str, old: str, new: str, missing: list[str]
) -> None:
    files = dict(GOOD[framework])
    assert old in files[file]
    files[file] = files[file].replace(old, new)
    result = examine(sources(write(tmp_path, files)))
    assert (result.missing, result.is_good) == (missing, False)
    assert main([str(tmp_path)]) == 1


def test_sources_of_no_framework_are_refused(tmp_path: Path) -> None:
    assert main([str(write(tmp_path, {"other/x.py": "print('step:1 - a:1')"}))]) == 1
