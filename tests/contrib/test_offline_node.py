"""pack.py and unpack.py, with wheels made on the spot: nothing is fetched."""

import importlib.util
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2] / "contrib" / "offline-node"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"offline_node_{name}", ROOT / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


pack, unpack = load("pack"), load("unpack")


def wheel(folder: Path, name: str, version: str, *needs: str) -> None:
    """A wheel of one module, with a command."""
    info = f"{name}-{version}.dist-info"
    requires = "".join(f"Requires-Dist: {need}\n" for need in needs)
    files = {
        f"{name}.py": f'VERSION = "{version}"\n\ndef main():\n    print(VERSION)\n',
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{requires}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[console_scripts]\n{name} = {name}:main\n",
    }
    record = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in (files | {f"{info}/RECORD": record}).items():
            archive.writestr(path, text)


def program(name: str, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / f"{name}.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | environ, timeout=300, check=False)


def site(folder: Path) -> Path:
    (folder / "package").mkdir(parents=True)
    (folder / "package" / "data.bin").write_bytes(os.urandom(3000))
    (folder / "package" / "kernels.so").write_bytes(b"large and not needed")
    (folder / "bin").mkdir()
    (folder / "bin" / "command").write_text("#!/another/python\nprint(1)\n")
    (folder / "bin" / "command").chmod(0o755)
    return folder


def test_what_the_node_has_is_kept_where_the_requirement_allows_it(tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    wheel(wheels, "trainer", "1.0", "engine>=2", "torchlike")
    wheel(wheels, "engine", "2.5")
    wheel(wheels, "torchlike", "2.11.0")
    wheel(wheels, "torchlike", "2.12.0")
    node = tmp_path / "node.json"
    node.write_text(
        json.dumps([{"name": "torchlike", "version": "2.11.0+cu130"}, {"name": "Engine", "version": "1.0"}])
    )
    offline = {
        "UV_OFFLINE": "1",
        "UV_NO_INDEX": "1",
        "UV_FIND_LINKS": str(wheels),
        "UV_CACHE_DIR": str(tmp_path / "cache"),
    }
    parts, target = tmp_path / "parts", tmp_path / "site"

    packed = program("pack", "--node", str(node), "--out", str(parts), "--part-size", "200", "trainer", **offline)
    assert (packed.returncode, packed.stdout) == (0, "engine==2.5\ntrainer==1.0\n"), packed.stderr
    assert max(part.stat().st_size for part in parts.glob("part-*")) == 200

    unpacked = program("unpack", str(parts), str(target))
    assert unpacked.returncode == 0, unpacked.stderr
    compiled = sorted(path.name.partition(".")[0] for path in (target / "__pycache__").iterdir())
    assert compiled == ["engine", "trainer"]
    imported = subprocess.run(
        [sys.executable, "-c", "import engine, trainer; print(engine.VERSION, trainer.VERSION)"],
        capture_output=True, text=True, env={"PYTHONPATH": str(target)}, check=True,
    )  # fmt: skip
    assert imported.stdout == "2.5 1.0\n"
    assert (target / "bin" / "trainer").read_text().splitlines()[0] == f"#!{sys.executable}"


def test_a_requirement_that_cannot_be_met_says_uvs_words(tmp_path: Path) -> None:
    node = tmp_path / "node.json"
    node.write_text("[]")
    offline = {"UV_OFFLINE": "1", "UV_NO_INDEX": "1", "UV_CACHE_DIR": str(tmp_path / "cache")}
    packed = program("pack", "--node", str(node), "--out", str(tmp_path / "parts"), "nothing-of-that-name", **offline)
    assert packed.returncode == 1
    assert packed.stderr.startswith("pack: uv pip compile failed:\n")
    assert "nothing-of-that-name" in packed.stderr


@pytest.mark.parametrize("text", ["", "{}", "[1]", '[{"name": "x"}]', '[{"name": 1, "version": "2"}]', "null"])
def test_a_list_that_is_none_of_pips_is_refused(text: str) -> None:
    if text == "{}":
        assert pack.installed(text) == {}  # a node that has nothing
        return
    with pytest.raises(pack.PackError, match="pip list --format json"):
        pack.installed(text)


def test_names_and_local_versions_are_compared_as_pip_does() -> None:
    locked = pack.pins(
        "# comment\nFoo_Bar==1.2 \\\n    --hash=sha256:0\ntorch==2.11.0 ; python_version > '3'\nuvicorn[standard]==0.5\n"
    )
    assert locked == {"foo-bar": "1.2", "torch": "2.11.0", "uvicorn": "0.5"}
    node = pack.installed('[{"name": "FOO.bar", "version": "1.2"}, {"name": "torch", "version": "2.11.0+cu130"}]')
    assert pack.lacking(locked, node, []) == ["uvicorn==0.5"]
    assert pack.lacking(locked, {}, ["Uvi*", "foo_bar"]) == ["torch==2.11.0"]


def test_what_was_compiled_here_is_not_carried(tmp_path: Path) -> None:
    for name, tag in (
        ("good-1", "py3-none-any"),
        ("wheel-1", "cp312-cp312-manylinux_2_28_x86_64"),
        ("bad-1", "cp311-cp311-linux_x86_64"),
    ):
        (tmp_path / f"{name}.dist-info").mkdir()
        (tmp_path / f"{name}.dist-info" / "WHEEL").write_text(f"Wheel-Version: 1.0\nTag: {tag}\n")
    assert pack.built_here(tmp_path) == ["bad-1.dist-info"]


def test_a_wheel_of_the_index_was_not_compiled_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray's wheels are renamed after they are built: inside they call themselves linux_x86_64."""
    wheel(tmp_path, "renamed", "1.0")
    for name, value in (("UV_OFFLINE", "1"), ("UV_NO_INDEX", "1"), ("UV_FIND_LINKS", str(tmp_path))):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    args = pack.arguments().parse_args(["renamed", "--node", "n", "--out", str(tmp_path / "parts")])
    assert pack.has_wheel(args, "renamed-1.0.dist-info", tmp_path / "none")
    assert not pack.has_wheel(args, "renamed-2.0.dist-info", tmp_path / "none")


def test_dropped_files_stay_behind_and_modes_travel(tmp_path: Path) -> None:
    pack.pack(site(tmp_path / "from"), tmp_path / "parts", limit=1000, drop=["*.so"], preset=0)
    assert unpack.unpack(str(tmp_path / "parts"), str(tmp_path / "to"), python="/node/python") == 2
    assert sorted(
        str(path.relative_to(tmp_path / "to")) for path in (tmp_path / "to").rglob("*") if path.is_file()
    ) == [
        "bin/command",
        "package/data.bin",
    ]
    assert (tmp_path / "to/bin/command").read_text() == "#!/node/python\nprint(1)\n"
    assert (tmp_path / "to/bin/command").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "to/package/data.bin").read_bytes() == (tmp_path / "from/package/data.bin").read_bytes()


@pytest.mark.parametrize("harm", ["cut", "gone", "changed"])
def test_a_part_that_is_not_whole_stops_everything(tmp_path: Path, harm: str) -> None:
    parts = tmp_path / "parts"
    written = pack.pack(site(tmp_path / "from"), parts, limit=1000, drop=[], preset=0)
    assert len(written) > 2
    victim = parts / "part-001"
    if harm == "gone":
        victim.unlink()
    else:
        data = victim.read_bytes()
        victim.write_bytes(data[:-1] if harm == "cut" else bytes([data[0] ^ 1]) + data[1:])
    done = program("unpack", str(parts), str(tmp_path / "to"))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"unpack: {victim} ")
    assert not (tmp_path / "to").exists()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"parts": []}', '{"parts": [{"name": "x"}]}', '{"parts": ["x"]}'])
def test_a_manifest_that_is_none_is_told_in_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    (tmp_path / "x").touch()
    done = program("unpack", str(tmp_path), str(tmp_path / "to"))
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)
    assert done.stderr.startswith(f"unpack: no manifest of pack.py in {tmp_path}: ")


def test_a_pack_that_ends_early_is_told_in_one_line(tmp_path: Path) -> None:
    """A manifest that lost its last parts: those that it names are whole."""
    parts = tmp_path / "parts"
    written = pack.pack(site(tmp_path / "from"), parts, limit=1000, drop=[], preset=0)
    (parts / "manifest.json").write_text(json.dumps({"parts": written[:1]}))
    done = program("unpack", str(parts), str(tmp_path / "to"))
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)


def test_parts_are_unpacked_as_they_come(tmp_path: Path) -> None:
    packed, parts = tmp_path / "packed", tmp_path / "parts"
    written = pack.pack(site(tmp_path / "from"), packed, limit=1000, drop=[], preset=0)
    parts.mkdir()
    (packed / "manifest.json").rename(parts / "manifest.json")
    words = [sys.executable, str(ROOT / "unpack.py"), "--wait", str(parts), str(tmp_path / "to")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as waiting:
        for part in written:
            half = (packed / str(part["name"])).read_bytes()[:500]
            (parts / str(part["name"])).write_bytes(half)  # what is still on its way is not read
            assert waiting.poll() is None
            (packed / str(part["name"])).replace(parts / str(part["name"]))
        assert waiting.communicate(timeout=300)[0].startswith("3 files in ")
    data = "package/data.bin"
    assert (tmp_path / "to" / data).read_bytes() == (tmp_path / "from" / data).read_bytes()


def test_a_part_that_does_not_come_or_comes_changed_ends_the_wait(tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    written = pack.pack(site(tmp_path / "from"), parts, limit=1000, drop=[], preset=0)
    victim = parts / "part-001"
    victim.write_bytes(bytes(len(victim.read_bytes())))
    coming = unpack.arriving(str(parts), written, limit_s=0.0)
    assert next(coming) == str(parts / "part-000")
    with pytest.raises(unpack.UnpackError, match=r"part-001 differs"):
        next(coming)
    victim.write_bytes(victim.read_bytes()[:-1])
    for _ in ("half there", "gone"):
        with pytest.raises(unpack.UnpackError, match=r"part-001 did not arrive within 0 s"):
            list(unpack.arriving(str(parts), written, limit_s=0.0, pause_s=0.0))
        victim.unlink(missing_ok=True)


def test_a_second_packing_leaves_no_part_of_the_first(tmp_path: Path) -> None:
    packed = site(tmp_path / "from")
    pack.pack(packed, tmp_path / "parts", limit=100, drop=[], preset=0)
    written = pack.pack(packed, tmp_path / "parts", limit=10**6, drop=[], preset=0)
    assert sorted(path.name for path in (tmp_path / "parts").iterdir()) == [
        "manifest.json",
        *(str(part["name"]) for part in written),
    ]


@pytest.mark.parametrize("name", ["../outside", "/absolute", "a/../../outside"])
def test_no_packed_name_leaves_the_target(tmp_path: Path, name: str) -> None:
    assert not unpack.inside(str(tmp_path / "to"), name)


@pytest.mark.parametrize("text", ["0", "60 MB", "M", "-1", "1.5G", ""])
def test_a_size_that_is_none_is_refused(text: str) -> None:
    done = program("pack", "--node", "x", "--out", "y", "--part-size", text, "z")
    assert done.returncode == 2
    assert "--part-size" in done.stderr


def test_without_arguments_unpack_says_how() -> None:
    done = program("unpack")
    assert done.returncode == 2
    assert "unpack.py [--wait] PARTS TARGET" in done.stderr
