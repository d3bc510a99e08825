"""Follows a pickle as torch.load(weights_only=True) would, without importing or calling anything.

Every opcode, call and state that is not known to be harmless is refused. torch's own reader is the reference: what it
refuses, this one refuses (tests/lanes/training/test_pickles.py compares them). It also allows what verl's checkpoints need:
numpy's arrays and the parts of DTensors.
"""

import contextlib
import io
import itertools
import pickletools
from collections.abc import Callable
from dataclasses import dataclass, field

from skyrl_train.checkpoints.pickle_values import (
    DICTS,
    Container,
    Foreign,
    Global,
    RefusedPickleError,
    Storage,
    build,
    call,
    is_allowed,
    is_key,
    make_storage,
    new,
)

MOST_OPCODES = 5_000_000
_MOST_NAMES = 100
_PROTOCOL = 2
_LITERALS = frozenset(["BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "BINUNICODE"])
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
_EMPTY = {"EMPTY_LIST": "list", "EMPTY_DICT": "dict", "EMPTY_SET": "set"}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


@dataclass(slots=True)
class Followed:
    """`foreign`: the names outside the allowed ones. `problem`: why the rest was not understood, or empty.
    `storages`: the size in bytes of each tensor's record."""

    foreign: list[str] = field(default_factory=list)
    storages: dict[str, int] = field(default_factory=dict)
    problem: str = ""


def follow(data: bytes) -> Followed:
    machine = _Machine()
    try:
        machine.run(data)
    except RefusedPickleError as error:
        machine.followed.problem = str(error)
    except Exception as error:  # noqa: BLE001 -- pickletools raises various errors on invalid bytes
        machine.followed.problem = f"it is not a valid pickle ({str(error)[:200]})"
    if machine.followed.problem:
        machine.followed.foreign = list(dict.fromkeys((*machine.followed.foreign, *_imports(data))))
    return machine.followed


def _imports(data: bytes) -> list[str]:
    """The imports outside the allowed names in any spelling, to name them for a reader. Other loaders run them."""
    found: list[str] = []
    texts: list[str] = []
    with contextlib.suppress(Exception):  # pickletools raises various errors on invalid bytes
        for opcode, argument, _ in itertools.islice(pickletools.genops(io.BytesIO(data)), MOST_OPCODES):
            if opcode.name in ("GLOBAL", "INST"):
                found.append(str(argument))
            elif opcode.name == "STACK_GLOBAL":
                found.append(" ".join(texts) if len(texts) == 2 else "a computed name")
            if "UNICODE" in opcode.name or "STRING" in opcode.name:
                texts = [*texts[-1:], str(argument)]
            elif opcode.name != "MEMOIZE" and "PUT" not in opcode.name:
                texts = []
            if len(found) > _MOST_NAMES:
                break
    return [name for name in found if not is_allowed(tuple(name.split(" ", 1)))]


class _Machine:
    def __init__(self) -> None:
        self.followed = Followed()
        self._stack: list[object] = []
        self._marks: list[list[object]] = []
        self._memo: dict[int, object] = {}
        self._storages: dict[str, Storage] = {}
        self._acts: dict[str, Callable[[], None]] = {
            "MARK": self._mark,
            "TUPLE": lambda: self._push(tuple(self._pop_mark())),
            "APPEND": lambda: self._append([self._pop()]),
            "APPENDS": lambda: self._append(self._pop_mark()),
            "SETITEM": lambda: self._set_items([self._pop(), self._pop()][::-1]),
            "SETITEMS": lambda: self._set_items(self._pop_mark()),
            "REDUCE": self._reduce,
            "NEWOBJ": self._new,
            "BUILD": self._build,
            "BINPERSID": self._load_storage,
        }

    def run(self, data: bytes) -> None:
        for count, (opcode, argument, position) in enumerate(pickletools.genops(io.BytesIO(data)), 1):
            if count > MOST_OPCODES:
                raise RefusedPickleError(f"it has more than {MOST_OPCODES} opcodes")
            if opcode.name == "STOP":
                self._pop()
                if position is not None and position + 1 != len(data):
                    raise RefusedPickleError("bytes follow its end")
                return
            if (opcode.name == "PROTO") != (count == 1) or (count == 1 and argument != _PROTOCOL):
                raise RefusedPickleError(f"its protocol is not {_PROTOCOL}")
            self._one(opcode.name, argument)

    def _one(self, name: str, argument: object) -> None:
        if name in _LITERALS:
            self._push(argument)
        elif name in ("BINPUT", "LONG_BINPUT"):
            self._memo[_number(argument)] = self._top()
        elif name in ("BINGET", "LONG_BINGET"):
            self._push(self._remembered(_number(argument)))
        elif name in self._acts:
            self._acts[name]()
        elif name in _CONSTANTS:
            self._push(_CONSTANTS[name])
        elif name in _EMPTY:
            self._push(Container(_EMPTY[name]))
        elif name in _TUPLES:
            self._push(tuple([self._pop() for _ in range(_TUPLES[name])][::-1]))
        elif name == "GLOBAL":
            self._import(str(argument))
        elif name == "SHORT_BINSTRING":
            self._push(str(argument).encode("latin-1").decode("utf-8"))
        elif name != "PROTO":
            raise RefusedPickleError(f"the opcode {name} is not one that torch.load(weights_only=True) accepts")

    def _import(self, named: str) -> None:
        module, _, name = named.partition(" ")
        if is_allowed((module, name)):
            self._push(Global((module, name)))
        else:
            self._add_foreign(named)
            self._push(Foreign())

    def _add_foreign(self, named: str) -> None:
        if named not in self.followed.foreign and len(self.followed.foreign) < _MOST_NAMES:
            self.followed.foreign.append(named)

    def _push(self, value: object) -> None:
        self._stack.append(value)

    def _pop(self) -> object:
        self._top()
        return self._stack.pop()

    def _top(self) -> object:
        if not self._stack:
            raise RefusedPickleError("it takes a value from an empty stack")
        return self._stack[-1]

    def _remembered(self, number: int) -> object:
        if number not in self._memo:
            raise RefusedPickleError(f"it uses the value {number}, which it never stored")
        return self._memo[number]

    def _mark(self) -> None:
        self._marks.append(self._stack)
        self._stack = []

    def _pop_mark(self) -> list[object]:
        if not self._marks:
            raise RefusedPickleError("it ends a group that it did not begin")
        items, self._stack = self._stack, self._marks.pop()
        return items

    def _append(self, items: list[object]) -> None:
        target = self._top()
        if isinstance(target, Foreign):
            return
        if not isinstance(target, Container) or target.kind != "list":
            raise RefusedPickleError("it appends to what is not a list")
        target.keys = target.keys and all(is_key(item) for item in items)

    def _set_items(self, items: list[object]) -> None:
        target = self._top()
        if isinstance(target, Foreign):
            return
        if not isinstance(target, Container) or target.kind not in DICTS or len(items) % 2:
            raise RefusedPickleError("it sets an item of what is not a dict")
        for key, value in zip(items[::2], items[1::2], strict=True):
            if not is_key(key):
                raise RefusedPickleError("a key of a dict cannot be hashed")
            target.set_item(key, value)

    def _reduce(self) -> None:
        arguments, function = self._pop(), self._pop()
        self._push(call(function, arguments))

    def _new(self) -> None:
        arguments, kind = self._pop(), self._pop()
        self._push(new(kind, arguments))

    def _build(self) -> None:
        state = self._pop()
        build(self._top(), state)

    def _load_storage(self) -> None:
        key, storage = make_storage(self._pop())
        if self._storages.setdefault(key, storage) != storage:
            raise RefusedPickleError(f"the tensor {key[:80]} has two types or sizes")
        self.followed.storages[key] = storage.count * storage.item_bytes
        self._push(storage)


def _number(argument: object) -> int:
    return int(str(argument))
