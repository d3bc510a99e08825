"""podman's command line over a store in memory, with faults by script."""

import json
import threading
from dataclasses import dataclass, field

from skyrl_train.sandbox.podman_cli import Done, PodmanCli


@dataclass(slots=True)
class FakePodman(PodmanCli):
    """`remote` can be pulled; `archives` map a file to what it holds; `faults["pull"]` come before the right answers."""

    store: set[str] = field(default_factory=set)
    remote: set[str] = field(default_factory=set)
    archives: dict[str, list[str]] = field(default_factory=dict)
    faults: dict[str, list[str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    busy: int = 0
    busiest: int = 0
    recipes: list[str] = field(default_factory=list)
    guard: threading.Lock = field(default_factory=threading.Lock)

    def run(self, *words: str, limit_s: float) -> Done:  # noqa: ARG002 -- nothing here takes time
        with self.guard:
            self.asked.append(" ".join(words))
            self.busy += 1
            self.busiest = max(self.busiest, self.busy)
        try:
            return self._answer(words)
        finally:
            with self.guard:
                self.busy -= 1

    def _answer(self, words: tuple[str, ...]) -> Done:
        pending = self.faults.get(words[0], [])
        if pending:
            return Done(rc=125, err=pending.pop(0))
        match words:
            case ("images", *_):
                return Done(rc=0, out=json.dumps([{"Names": sorted(self.store)}] if self.store else None))
            case ("image", "exists", name):
                return Done(rc=0 if name in self.store else 1)
            case ("image", "inspect", _, _, name):
                return Done(rc=0, out=f"sha256:{'ab' * 32}\n" if name in self.store else "")
            case ("pull", *_, name):
                return self._added([name]) if name in self.remote else Done(rc=125, err="Error: manifest unknown")
            case ("load", *_, path):
                held = self.archives.get(path, [])
                done = self._added(held)
                return Done(rc=done.rc, out="".join(f"Loaded image: {name}\n" for name in held))
            case ("tag", _, name):
                return self._added([name])
            case ("untag", _, name):
                self.store.discard(name)
                return Done(rc=0)
            case ("build", *_):
                with open(words[words.index("--file") + 1], encoding="utf-8") as file:
                    self.recipes.append(file.read())
                return self._added([words[words.index("--tag") + 1]])
        return Done(rc=125, err=f"unknown command {words[0]}")

    def _added(self, names: list[str]) -> Done:
        self.store.update(names)
        return Done(rc=0)
