"""The lines of docs/slurm-site.md that install the scripts, run as they stand, with another root directory."""

import re
import subprocess
from pathlib import Path

from skyrl_doctor.site.slurm_config import HOOKS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "slurm-site.md").read_text(encoding="utf-8")
_OF_NETWORK = ("git clone", "/usr/bin/python3 -m venv", "/opt/skyrl-doctor/bin/pip")


def block(language: str, begin: str) -> str:
    found = re.search(rf"^```{language}\n({re.escape(begin)}.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None, f"no block that begins with {begin}"
    return found[1]


def test_the_lines_install_what_slurm_conf_names(tmp_path: Path) -> None:
    lines = [line.removeprefix("# ") for line in block("console", "# umask").splitlines()]
    own = [line for line in lines if not line.startswith(_OF_NETWORK)]
    assert len(lines) - len(own) == len(_OF_NETWORK)
    script = "\n".join(["set -eu", *own]).replace("/etc/slurm", f"{tmp_path}/slurm")
    subprocess.run(["sh", "-c", script], cwd=ROOT, check=True, timeout=60)
    settings = dict(line.split("=", 1) for line in block("", "PrologFlags").splitlines())
    for hook, name in HOOKS.items():
        assert settings[hook] == f"/etc/slurm/skyrl/{name}"
        installed = tmp_path / "slurm" / "skyrl" / name
        assert installed.stat().st_mode & 0o777 == 0o755
    for name in ("skyrl/common.sh", "skyrl/site.sh", "job_submit.lua"):
        assert (tmp_path / "slurm" / name).stat().st_mode & 0o444 == 0o444
    assert settings["JobSubmitPlugins"] == "lua"


def test_the_filter_and_the_scripts_name_the_doctor_that_the_lines_install() -> None:
    filter_ = (ROOT / "contrib" / "slurm" / "job_submit.lua").read_text(encoding="utf-8")
    common = (ROOT / "contrib" / "slurm" / "common.sh").read_text(encoding="utf-8")
    assert 'DOCTOR = "/opt/skyrl-doctor/bin/skyrl-doctor"' in filter_
    assert "DOCTOR=/opt/skyrl-doctor/bin/skyrl-doctor\n" in common
    assert "-m venv /opt/skyrl-doctor\n" in PAGE
