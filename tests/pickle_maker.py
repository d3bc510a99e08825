"""Makes pickles at random: most are nearly right, so that a reader that is too lenient is found."""

import random
import struct
from collections.abc import Callable

NAMES = (
    *("collections OrderedDict", "collections Counter", "torch Size", "torch device", "torch FloatStorage"),
    *("torch ByteStorage", "torch float32", "torch.serialization _get_layout", "torch._utils _rebuild_tensor_v2"),
    *(
        "torch._utils _rebuild_parameter",
        "torch._tensor _rebuild_from_type_v2",
        "torch._utils _rebuild_wrapper_subclass",
    ),
    *("__builtin__ set", "__builtin__ bytearray", "__builtin__ complex", "_codecs encode", "builtins set"),
    *("numpy dtype", "numpy ndarray", "numpy._core.multiarray _reconstruct", "numpy._core.multiarray scalar"),
    *("torch.distributed.tensor.placement_types Shard", "torch.distributed.tensor._dtensor_spec TensorMeta"),
    *("torch.distributed.tensor DTensor", "torch.nn.parameter Parameter", "torch Tensor"),
)
STRANGERS = (
    *(
        "os system",
        "posix system",
        "builtins eval",
        "torch load",
        "torch._utils load",
        "torch hub.load",
        "builtins frozenset",
    ),
    *(
        "torch._utils _rebuild_tensor",
        "torch _utils._rebuild_tensor_v2",
        "torch.storage _load_from_bytes",
        "pickle loads",
    ),
    *("torch.jit load", "numpy load", "numpy.f2py.crackfortran myeval", "collections deque", "functools partial"),
)
TEXTS = ("storage", "cpu", "0", "1", "latin1", "torch.strided", "f4", "u1", "<", "a", "cuda:0", "module")


def text(value: str) -> bytes:
    data = value.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def name(value: str) -> bytes:
    return b"c" + value.replace(" ", "\n").encode() + b"\n"


def number(value: int) -> bytes:
    return b"J" + struct.pack("<i", value)


def made(seed: int) -> bytes:
    """A pickle; the same for the same seed."""
    chance = random.Random(seed)
    data = b"\x80\x02" + _value(chance, depth=chance.randint(1, 4)) + b"."
    for _ in range(chance.choice((0, 0, 0, 1, 1, 2))):
        data = _damaged(chance, data)
    return data


def _damaged(chance: random.Random, data: bytes) -> bytes:
    at = chance.randrange(2, len(data))
    cut = chance.choice((0, 0, 1))
    more = chance.choice(
        (b"", bytes([chance.choice(b"()]}tRbsuaeq0h2.NQ\x81\x85\x86\x87\x88\x89o\x93\x94id")]), _literal(chance))
    )
    return data[:at] + more + data[at + cut :]


def _literal(chance: random.Random) -> bytes:
    return chance.choice(
        (
            b"N", b"\x88", b"\x89", b")", b"K" + bytes([chance.randrange(6)]), number(chance.choice((0, 1, 7, -1, 400))),
            b"G" + struct.pack(">d", 1.5), b"\x8a\x01\x05", text(chance.choice(TEXTS)), b"U\x01a", b"]", b"}",
        )
    )  # fmt: skip


def _tuple(*parts: bytes) -> bytes:
    return b"(" + b"".join(parts) + b"t"


def _storage(chance: random.Random) -> bytes:
    kind, count = chance.choice((("torch FloatStorage", 100), ("torch ByteStorage", 400), ("torch FloatStorage", 400)))
    key = chance.choice("0123")
    if chance.random() < 0.8:
        kind, count = ("torch FloatStorage", 100) if key in "01" else ("torch ByteStorage", 400)
    return _tuple(text("storage"), name(kind), text(key), text("cpu"), number(count)) + b"Q"


def _tensor(chance: random.Random) -> bytes:
    rows, columns = chance.choice(((2, 5), (10, 10), (0, 3), (20, 20), (3, -1)))
    shape = _tuple(number(rows), number(columns))
    strides = _tuple(number(columns), number(1)) if chance.random() < 0.8 else _tuple(number(chance.randint(0, 99)))
    parts = [_storage(chance), number(chance.choice((0, 0, 0, 1, 99, 1000))), shape, strides]
    parts += [chance.choice((b"\x88", b"\x89", b"\x89")), name("collections OrderedDict") + b")R"]
    return name("torch._utils _rebuild_tensor_v2") + _tuple(*parts) + b"R"


def _parameter(chance: random.Random) -> bytes:
    flag, hooks = chance.choice((b"\x88", b"\x89")), name("collections OrderedDict") + b")R"
    return name("torch._utils _rebuild_parameter") + _tuple(_tensor(chance), flag, hooks) + b"R"


def _array(chance: random.Random) -> bytes:
    start = name("numpy._core.multiarray _reconstruct")
    start += _tuple(
        name("numpy ndarray"), _tuple(number(0)), name("_codecs encode") + _tuple(text("b"), text("latin1")) + b"R"
    )
    code = chance.choice(("f4", "u1", "i8", "O8", "f3"))
    kind = name("numpy dtype") + _tuple(text(code), b"\x89", b"\x88") + b"R"
    kind += _tuple(number(3), text("<"), b"NNN", number(-1), number(-1), number(0)) + b"b"
    size = chance.choice((4, 4, 8, 5))
    data = name("_codecs encode") + _tuple(text("x" * size), text("latin1")) + b"R"
    return start + b"R" + _tuple(number(1), _tuple(number(chance.choice((1, 2, -1)))), kind, b"\x89", data) + b"b"


def _call(chance: random.Random) -> bytes:
    function = chance.choice(STRANGERS if chance.random() < 0.15 else NAMES)
    arguments = chance.choice(
        (
            b")", _tuple(text("cpu")), _tuple(text("torch.strided")), _tuple(_tuple(number(1), number(2))), _tuple(b"](K\x01K\x02e"),
            _tuple(text("xy"), text("latin1")), _tuple(b"G" + bytes(8), b"G" + bytes(8)), _tuple(text("f4"), b"\x89", b"\x88"),
            _tuple(b"}"), _tuple(_literal(chance), _literal(chance)), _tuple(_value(chance, depth=0)),
        )
    )  # fmt: skip
    return name(function) + arguments + chance.choice((b"R", b"R", b"R", b"\x81", b"\x81}b"))


def _dict(chance: random.Random, depth: int) -> bytes:
    start = chance.choice(
        (b"}", b"}", name("collections OrderedDict") + b")R", name("collections Counter") + b"}\x85R")
    )
    pairs = (
        text(chance.choice(TEXTS)) if chance.random() < 0.85 else _value(chance, depth=0)
        for _ in range(chance.randint(0, 4))
    )
    return start + b"(" + b"".join(key + _value(chance, depth=depth - 1) for key in pairs) + b"u"


def _list(chance: random.Random, depth: int) -> bytes:
    return b"](" + b"".join(_value(chance, depth=depth - 1) for _ in range(chance.randint(0, 3))) + b"e"


def _value(chance: random.Random, *, depth: int) -> bytes:
    ways: list[Callable[[], bytes]] = [lambda: _literal(chance)]
    if depth > 0:
        ways += [lambda: _dict(chance, depth)] * 4 + [lambda: _list(chance, depth)] * 2
        ways += [lambda: _tensor(chance)] * 3 + [lambda: _parameter(chance), lambda: _array(chance)]
        ways += [lambda: _call(chance)] * 3
        ways += [lambda: _tuple(*(_value(chance, depth=depth - 1) for _ in range(chance.randint(0, 3))))]
        ways += [lambda: name("collections OrderedDict") + b")R" + _dict(chance, 1) + b"b"]
        ways += [lambda: _value(chance, depth=depth - 1) + b"q\x05" + chance.choice((b"", b"h\x05\x86"))]
    return chance.choice(ways)()
