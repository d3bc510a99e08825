"""The program that reads transformers' sources, run as the doctor runs it, against small ones of both forms."""

import os
import subprocess
import sys
from pathlib import Path

import skyrl_doctor.children
from skyrl_doctor.facts.model_types import ModelTypes, parse_model_types

CHILD = Path(skyrl_doctor.children.__file__ or "").with_name("model_types.py")
CAUSAL = """MODEL_MAPPING_NAMES = OrderedDict([("bert", "BertModel")])
MODEL_FOR_CAUSAL_LM_MAPPING_NAMES: OrderedDict[str, str] = OrderedDict(
    [
        ("qwen2", "Qwen2ForCausalLM"),
    ]
)
"""
TYPES = '("bert", "BertConfig"),\n("qwen2", "Qwen2Config"),\n'


def ask(path: Path) -> ModelTypes | None:
    done = subprocess.run(
        [sys.executable, "-B", str(CHILD)],
        env={"PATH": os.defpath, "PYTHONPATH": str(path)},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert done.stderr == ""
    return parse_model_types(done.stdout, "/py")


def test_both_places_of_the_mapping_are_read_and_nothing_is_imported(tmp_path: Path) -> None:
    for file in ("auto_mappings.py", "configuration_auto.py"):
        root = tmp_path / file.partition(".")[0]
        auto = root / "transformers" / "models" / "auto"
        auto.mkdir(parents=True)
        (root / "transformers" / "__init__.py").write_text("raise SystemExit('it was imported')")
        (auto / file).write_text(TYPES)
        (auto / "modeling_auto.py").write_text(CAUSAL)
        assert ask(root) == ModelTypes(frozenset({"bert", "qwen2"}), frozenset({"qwen2"}), "/py")


def test_without_transformers(tmp_path: Path) -> None:
    assert ask(tmp_path) is None
