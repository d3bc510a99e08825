"""The tests of each promise of docs/security.md, by area. `.ci/attacks-lane` runs them all and prints their numbers."""

AREAS: dict[str, tuple[str, ...]] = {
    "rewards": (
        "lanes/attacks/test_rewards.py",
        "lanes/attacks/test_cost.py",
        "skyrl_train/rewards/inside/test_canaries.py",
        "skyrl_train/rewards/inside/test_apply.py",
        "skyrl_train/rewards/inside/test_equality.py",
        "skyrl_train/rewards/test_grader.py",
        "skyrl_train/rewards/test_swe_attacks.py",
    ),
    "limits of sandboxes": (
        "lanes/attacks/test_limits.py",
        "skyrl_train/sandbox/sandboxd/test_limit_enforcer.py",
        "skyrl_train/sandbox/runtime/test_inspector.py",
        "skyrl_train/sandbox/runtime/podman/test_namespaces.py",
        "skyrl_train/sandbox/runtime/podman/test_system_calls.py",
    ),
    "privileged scripts": ("lanes/attacks/test_privileged.py",),
    "links and races": ("lanes/attacks/test_races.py", "skyrl_train/contracts/test_planted_links.py", "test_files.py"),
    "pickles and safetensors": (
        "skyrl_train/checkpoints/test_pickles.py",
        "skyrl_train/checkpoints/test_archive.py",
        "skyrl_train/checkpoints/test_safetensors.py",
    ),
    "archives and recipes": (
        "skyrl_train/sandbox/runtime/test_context_archive.py",
        "skyrl_train/sandbox/runtime/test_build_recipe.py",
    ),
    "parsers": (
        "skyrl_doctor/plan/syntax/test_bounds.py",
        "skyrl_train/contracts/test_bounded.py",
        "skyrl_train/tasks/test_datasets.py",
    ),
    "redaction": (
        "skyrl_doctor/machine/test_secret_shapes.py",
        "skyrl_doctor/machine/test_redact.py",
        "skyrl_doctor/machine/test_lookalikes.py",
    ),
    "terminal": ("test_screens.py", "skyrl_train/contracts/test_screen.py", "skyrl_doctor/cli/test_untrusted_names.py"),
    "runtime API": (
        "skyrl_train/sandbox/runtime/test_ports.py",
        "skyrl_train/sandbox/runtime/test_sessions.py",
        "skyrl_train/sandbox/runtime/test_builds.py",
    ),
    "floods": (
        "skyrl_train/sandbox/runtime/test_strangers.py",
        "skyrl_train/sandbox/runtime/test_connections.py",
        "skyrl_train/view/test_server.py",
    ),
}


def area_of(node_id: str) -> str | None:
    """The area of a test by the id that pytest gives it."""
    file = node_id.partition("::")[0].removeprefix("tests/")
    return next((area for area, files in AREAS.items() if file in files), None)
