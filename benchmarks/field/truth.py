"""What the programs themselves say of a file: the words that bash builds, and the settings that are refused."""

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.field.files import Checkout, File
from benchmarks.field.launches import Launch, folder_with, hydra_main, launch_of
from benchmarks.field.required import Required
from benchmarks.field.sandbox import Ran, Sandbox, sandbox

NO_SCHEMA = "no schema for"
ARGUMENTS = ((), ("2",), ("2", "/tmp/argument"), ("/tmp/argument",) * 4)
_OVERRIDE = re.compile(r"[+~]{0,2}[A-Za-z_][\w/@]*(?:\.\w+)+=.*", re.DOTALL)
MOST_LAUNCHES = 12
SAVED_EVERY = 20
CHILDREN = Path(__file__).parent / "children"
_NAMES = ("--config-path", "-cp", "--config-name", "-cn", "--config-dir", "-cd")


@dataclass(frozen=True)
class Refusals:
    """The settings that a program refuses, with its messages. `broken` says why the program could not be asked."""

    refused: Mapping[str, str] = field(default_factory=dict)
    broken: str = ""
    by_version: Mapping[str, str] = field(default_factory=dict)
    """Settings that only another version refuses."""


@dataclass(frozen=True)
class Truth:
    """The truth about one file. Kinds: hydra, skyrl, prime, other; empty if the file launches nothing."""

    launches: tuple[Launch, ...] = ()
    refusals: tuple[Refusals, ...] = ()
    status: int = 0
    timed_out: bool = False
    errors: str = ""
    lost: tuple[str, ...] = ()
    """Overrides that bash takes for a command, because a comment or a missing backslash ends the one before."""

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(launch.kind for launch in self.launches))

    @property
    def refused(self) -> dict[str, str]:
        return {key: why for one in self.refusals for key, why in one.refused.items()}

    @property
    def by_version(self) -> dict[str, str]:
        return {key: why for one in self.refusals for key, why in one.by_version.items()}

    @property
    def is_known(self) -> bool:
        """Whether the programs could be asked about every launch."""
        asked = [one for one in self.refusals if not one.broken.startswith(NO_SCHEMA)]
        return bool(asked) and not any(one.broken for one in asked)


class Child:
    """A program of `children` that answers requests, started at the first one."""

    def __init__(self, python: str, name: str) -> None:
        self._words = (python, "-u", str(CHILDREN / f"{name}.py"))
        self._program: subprocess.Popen[str] | None = None

    def ask(self, request: Mapping[str, Any]) -> Refusals:
        if self._program is None or self._program.poll() is not None:
            self._program = subprocess.Popen(
                self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        try:
            self._program.stdin.write(json.dumps(request) + "\n")
            self._program.stdin.flush()
            made = json.loads(self._program.stdout.readline())
        except (OSError, ValueError) as error:
            return Refusals(broken=f"the program ended: {error}")
        return Refusals(made["refused"], made["broken"])

    def close(self) -> None:
        if self._program is not None:
            self._program.kill()
            self._program.communicate()


class Judge:
    """Asks the programs about the files of one checkout."""

    def __init__(self, box: Sandbox, python: str, other_version: Path | None) -> None:
        self._box, self._other = box, other_version
        self._required = Required(box)
        self.memo: dict[str, Refusals] = {}
        """What was asked before, by the launch."""
        self._children = {name: Child(python, name) for name in ("compose", "skyrl", "prime")}

    def close(self) -> None:
        for child in self._children.values():
            child.close()

    def truth(self, file: File) -> Truth:
        if file.is_shell:
            return self._of_script(file)
        if file.path.endswith(".toml"):
            return self._of_toml(file)
        return Truth()

    def _of_script(self, file: File) -> Truth:
        launches: tuple[Launch, ...] = ()
        for arguments in ARGUMENTS:
            ran = self._box.run(file.path, arguments)
            launches = self._launches(ran)
            if launches or ran.timed_out:
                break
        lost = tuple(word for one in ran.started if _OVERRIDE.fullmatch(one.argv[0]) for word in one.argv)
        commit = self._required.commit(file.path)
        folder = (self._box.root / file.path).parent
        launches = tuple(
            launch.beside(folder, self._box.root).found_in(self._required.tree(commit)) for launch in launches
        )
        asked = {launch: self._asked(launch, commit) for launch in launches}
        refusals = tuple(asked[launch] for launch in launches)
        return Truth(launches, refusals, ran.status, ran.timed_out, ran.errors[-400:], lost)

    def _launches(self, ran: Ran) -> tuple[Launch, ...]:
        made = (launch_of(started, self._box.tree, self._box.root) for started in ran.started)
        return tuple(dict.fromkeys(launch for launch in made if launch is not None))[:MOST_LAUNCHES]

    def _of_toml(self, file: File) -> Truth:
        path = self._box.root / file.path
        if not (self._box.root / "packages/prime-rl-configs").is_dir():
            return Truth()
        found = self._children["prime"].ask({"root": str(self._box.root), "file": str(path), "program": ""})
        return Truth((Launch("prime", "", str(path), str(path.parent), ()),), (found,))

    def _asked(self, launch: Launch, commit: str) -> Refusals:
        key = memo_key(asdict(launch), self._box) + commit
        if key not in self.memo:
            self.memo[key] = self._answer(launch, commit)
        return self.memo[key]

    def _answer(self, launch: Launch, commit: str) -> Refusals:
        if launch.kind == "hydra" and launch.file is not None:
            return self._composed(launch, self._required.tree(commit))
        if launch.kind == "skyrl" and launch.program.count("."):
            overrides = [word for word in launch.arguments if "=" in word]
            request = {"tree": str(self._box.tree), "directory": launch.directory, "module": launch.program}
            return self._children["skyrl"].ask({**request, "overrides": overrides})
        return Refusals(broken=f"{NO_SCHEMA} {launch.program}")

    def _composed(self, launch: Launch, tree: Path) -> Refusals:
        """What Hydra refuses, in the tree of the verl that the script is for."""
        assert launch.file is not None
        launch = launch.moved(self._box.tree, tree)
        file = Path(launch.file or "")
        if not file.is_file():
            return Refusals(broken=f"{NO_SCHEMA} {launch.program}: the required verl has no such file")
        main = hydra_main(file)
        options, overrides = split(launch.arguments)
        name = options.get("name") or (main and main.config_name)
        path = options.get("path") or (main and main.config_path) or (name and folder_with(name, file, tree))
        request = {
            "tree": str(tree),
            "directory": launch.directory,
            "file": launch.file,
            "config_path": path,
            "config_name": name,
            "overrides": overrides,
        }
        own = self._children["compose"].ask(request)
        inner = file.relative_to(tree) if file.is_relative_to(tree) else None
        if self._other is None or inner is None or not (self._other / inner).exists() or own.broken:
            return own
        moved = {**request, "tree": str(self._other), "file": str(self._other / inner)}
        other = self._children["compose"].ask({**moved, "directory": str(self._other)})
        return Refusals(own.refused, own.broken, {k: v for k, v in other.refused.items() if k not in own.refused})


def memo_key(launch: Mapping[str, Any], box: Sandbox) -> str:
    return json.dumps(launch).replace(str(box.tree), str(box.checkout.outer or box.checkout.root))


def split(arguments: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Hydra's own options (`path` and `name`) and the overrides."""
    options: dict[str, str] = {}
    overrides = []
    rest = iter(arguments)
    for word in rest:
        name, equals, value = word.partition("=")
        if name in _NAMES:
            kind = "name" if "name" in name or name == "-cn" else "path"
            options[kind] = value if equals else next(rest, "")
        elif not word.startswith("-"):
            overrides.append(word)
    return options, overrides


def truths(
    checkout: Checkout, files: Sequence[File], python: str, other_version: Path | None, store: Path | None
) -> dict[str, Truth]:
    """The truth about each file by its id, from the checkout's file in the store where it is there."""
    stored = json.loads(store.read_text(encoding="utf-8")) if store is not None and store.exists() else {}
    missing = [file for file in files if file.id not in stored or "lost" not in stored[file.id]]
    if missing:
        with sandbox(checkout) as box, closing(Judge(box, python, other_version)) as judge:
            for number, file in enumerate(missing, start=1):
                text = json.dumps(asdict(judge.truth(file)))
                stored[file.id] = json.loads(text.replace(str(box.tree), str(checkout.outer or checkout.root)))
                if store is not None and (number % SAVED_EVERY == 0 or number == len(missing)):
                    store.write_text(json.dumps(stored), encoding="utf-8")
    return {file.id: _restored(stored[file.id]) for file in files}


def _restored(data: Mapping[str, Any]) -> Truth:
    launches = tuple(Launch(**{**one, "arguments": tuple(one["arguments"])}) for one in data["launches"])
    refusals = tuple(Refusals(**one) for one in data["refusals"])
    return Truth(**{**data, "launches": launches, "refusals": refusals, "lost": tuple(data.get("lost", ()))})
