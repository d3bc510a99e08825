"""The values of a pickle that is followed without loading it, and the calls that it may make.

The calls are exact pairs of module and name with arguments of an exact form: those of torch.load(weights_only=True), numpy's
arrays, and the DTensors of FSDP. Nothing is imported or called. A container knows only its kind and what its keys are.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

Pair = tuple[str, str]
_BIG = 1 << 62
_MOST_DIMENSIONS = 64
_MOST_KEY_DEPTH, _MOST_KEY_PARTS = 4, 64
_MOST_DEVICE = 127
_MOST_FIELDS = 32
"""More than a record has."""


class RefusedPickleError(Exception):
    """A pickle that torch.load(weights_only=True) refuses, or one that we do not understand."""


@dataclass(frozen=True, slots=True, eq=False)
class Global:
    """A class or function by its exact name."""

    pair: Pair


@dataclass(frozen=True, slots=True, eq=False)
class Foreign:
    """Something outside the allowed names, or made by it."""


@dataclass(frozen=True, slots=True)
class Storage:
    kind: str
    count: int

    @property
    def item_bytes(self) -> int:
        return _STORAGES[self.kind][0]

    @property
    def floating(self) -> bool:
        return _STORAGES[self.kind][1]


@dataclass(frozen=True, slots=True, eq=False)
class Tensor:
    floating: bool


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """The result of an allowed call. `size`: the bytes of one item, for a numpy type."""

    kind: str
    size: int = 0


@dataclass(slots=True, eq=False)
class Container:
    """`keys`: all items (of a list) or keys (of a dict) can be hashed. `names`: all keys are texts.
    `fields`: the values of the first keys that are texts."""

    kind: str
    keys: bool = True
    names: bool = True
    fields: dict[str, object] = field(default_factory=dict)

    def set_item(self, key: object, value: object) -> None:
        self.names = self.names and isinstance(key, str)
        if isinstance(key, str) and len(self.fields) < _MOST_FIELDS:
            self.fields[key] = value


DICTS = ("dict", "OrderedDict", "Counter")
_STORAGES = {
    **dict.fromkeys(("DoubleStorage",), (8, True)),
    **dict.fromkeys(("FloatStorage",), (4, True)),
    **dict.fromkeys(("HalfStorage", "BFloat16Storage"), (2, True)),
    **dict.fromkeys(("LongStorage",), (8, False)),
    **dict.fromkeys(("IntStorage",), (4, False)),
    **dict.fromkeys(("ShortStorage",), (2, False)),
    **dict.fromkeys(("CharStorage", "ByteStorage", "BoolStorage"), (1, False)),
}
_TYPES = frozenset(
    ["float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64"]
)
_MESH = "torch.distributed.device_mesh"
_LAYOUT = "torch.distributed._mesh_layout"
_PARTS = {
    "._dtensor_spec": ("DTensorSpec", "TensorMeta", "ShardOrderEntry"),
    ".placement_types": ("Shard", "Replicate", "Partial", "_StridedShard"),
}
_DTENSORS: frozenset[Pair] = frozenset(
    [("torch.distributed.tensor", "DTensor"), ("torch.distributed._tensor.api", "DTensor")]
)
RECORDS: frozenset[Pair] = frozenset(
    [
        *((f"torch.distributed.{base}{part}", name) for base in ("tensor", "_tensor") for part in _PARTS for name in _PARTS[part]),
        *((_MESH, "DeviceMesh"), (_LAYOUT, "_MeshLayout"), (_LAYOUT, "_FlatLayout")),
    ]
)  # fmt: skip
"""Plain records of a DTensor: made empty, then filled from a dict with texts as keys."""


def is_key(value: object) -> bool:
    """Whether Python can hash the value, in bounded time."""
    left = [_MOST_KEY_PARTS]

    def fits(one: object, depth: int) -> bool:
        left[0] -= 1
        if isinstance(one, tuple):
            return depth > 0 and left[0] > 0 and all(left[0] > 0 and fits(part, depth - 1) for part in one)
        return one is None or isinstance(one, (bool, int, float, str, bytes, Global, Foreign))

    return fits(value, _MOST_KEY_DEPTH)


def make_storage(identity: object) -> tuple[str, Storage]:
    """The key and the storage of a persistent id ("storage", class, key, device, count)."""
    match identity:
        case ("storage", Global(pair=("torch", name)), str(key), str(device), int(count)) if name in _STORAGES:
            if type(count) is int and 0 <= count < _BIG and _is_device(device, None):
                return key, Storage(name, count)
    raise RefusedPickleError("a persistent id is not that of a tensor's storage")


def call(function: object, arguments: object) -> object:
    """The result of a call."""
    if isinstance(function, Foreign):
        return function
    if not isinstance(function, Global) or function.pair not in _CALLS:
        raise RefusedPickleError(f"it calls {_name(function)}, which is not an allowed function")
    made = _CALLS[function.pair](arguments) if isinstance(arguments, tuple) else None
    if made is None:
        raise RefusedPickleError(f"it calls {_name(function)} with unexpected arguments")
    return made


def new(kind: object, arguments: object) -> object:
    """The result of making an object without calling its constructor."""
    if isinstance(kind, Foreign):
        return kind
    if isinstance(kind, Global) and kind.pair in RECORDS and _fit_record(kind.pair[1], arguments):
        return Made(".".join(kind.pair))
    raise RefusedPickleError(f"it makes an object of {_name(kind)}, which is not an allowed class")


def _fit_record(name: str, arguments: object) -> bool:
    match name, arguments:
        case "TensorMeta", (shape, strides, Global(pair=("torch", kind))):
            return _counts(shape) is not None and _counts(strides) is not None and kind in _TYPES
        case "ShardOrderEntry", (int(), places):
            return _counts(places) is not None
        case _, ():
            return name not in ("TensorMeta", "ShardOrderEntry")
    return False


def build(made: object, state: object) -> None:
    """Whether the state may be given to the object."""
    if isinstance(made, Foreign):
        return
    fits = False
    if isinstance(made, Container) and made.kind == "OrderedDict":
        fits = isinstance(state, Container) and state.kind in DICTS and state.names
    elif isinstance(made, Made) and made.kind == "numpy.dtype":
        fits = _is_type_state(state)
    elif isinstance(made, Made) and made.kind == "numpy.ndarray":
        fits = _is_array_state(state)
    elif isinstance(made, Made) and tuple(made.kind.rsplit(".", 1)) in RECORDS:
        fits = isinstance(state, Container) and state.kind == "dict" and state.names
        fits = fits and (not made.kind.endswith("Shard") or type(_field(state, "dim")) is int)
    if not fits:
        raise RefusedPickleError(f"it gives {_name(made)} an unexpected state")


def _field(state: object, name: str) -> object:
    return state.fields.get(name) if isinstance(state, Container) else None


def is_allowed(pair: tuple[str, ...]) -> bool:
    if len(pair) != len(("module", "name")):
        return False
    module, name = pair
    known = pair in _CALLS or pair in RECORDS or pair in _DTENSORS or pair in _CONSTANTS
    return known or (module == "torch" and (name in _STORAGES or name in _TYPES))


def _name(value: object) -> str:
    return ".".join(value.pair) if isinstance(value, Global) else f"a {_kind(value)}"


def _kind(value: object) -> str:
    return value.kind if isinstance(value, (Container, Made)) else type(value).__name__.lower()


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < _BIG


def _counts(value: object) -> tuple[int, ...] | None:
    fits = isinstance(value, tuple) and len(value) <= _MOST_DIMENSIONS and all(_is_count(one) for one in value)
    return value if fits and isinstance(value, tuple) else None


def _is_device(name: object, index: object) -> bool:
    if not isinstance(name, str):
        return False
    kind, colon, number = name.partition(":")
    if colon and not (number.isascii() and number.isdigit() and len(number) < 4 and int(number) <= _MOST_DEVICE):
        return False
    if colon and number != str(int(number)):
        return False
    fits = index is None or (not colon and type(index) is int and 0 <= index <= _MOST_DEVICE)
    return kind in ("cpu", "cuda", "meta") and fits


def _ordered(arguments: tuple[object, ...]) -> object | None:
    return Container("OrderedDict") if not arguments else None


def _counter(arguments: tuple[object, ...]) -> object | None:
    match arguments:
        case (Container(kind="dict") as counts,):
            return Container("Counter", keys=counts.keys, names=counts.names)
    return None


def _set(arguments: tuple[object, ...]) -> object | None:
    match arguments:
        case (Container(kind="list", keys=True),):
            return Container("set")
    return None


def _encode(arguments: tuple[object, ...]) -> object | None:
    match arguments:
        case (str(text), "latin1" | "latin-1"):
            try:
                return text.encode("latin1")
            except UnicodeEncodeError:
                return None
    return None


def _bytearray(arguments: tuple[object, ...]) -> object | None:
    data = arguments[0] if len(arguments) == 1 else _encode(arguments)
    return Made("bytearray") if isinstance(data, bytes) or not arguments else None


def _complex(arguments: tuple[object, ...]) -> object | None:
    match arguments:
        case (float(), float()):
            return Made("complex")
    return None


def _size(arguments: tuple[object, ...]) -> object | None:
    return _counts(arguments[0]) if len(arguments) == 1 else None


def _device(arguments: tuple[object, ...]) -> object | None:
    match arguments:
        case (name,) if _is_device(name, None):
            return Made("torch.device")
        case (name, int(index)) if _is_device(name, index):
            return Made("torch.device")
    return None


def _layout(arguments: tuple[object, ...]) -> object | None:
    return Made("torch.layout") if arguments == ("torch.strided",) else None


def _tensor(arguments: tuple[object, ...]) -> object | None:
    match arguments:
        case (Storage() as storage, int(offset), size, stride, bool(gradient), Container(kind="OrderedDict")):
            sizes, strides = _counts(size), _counts(stride)
            if sizes is None or strides is None or len(sizes) != len(strides) or not _is_count(offset):
                return None
            last = offset + sum((one - 1) * step for one, step in zip(sizes, strides, strict=True))
            inside = offset <= storage.count if 0 in sizes else last < storage.count
            return Tensor(storage.floating) if inside and (storage.floating or not gradient) else None
    return None


def _parameter(arguments: tuple[object, ...]) -> object | None:
    match arguments:
        case (Tensor(floating=floating), bool(gradient), Container(kind="OrderedDict")) if floating or not gradient:
            return Tensor(floating)
    return None


def _from_type(arguments: tuple[object, ...]) -> object | None:
    """A DTensor: a wrapper of no memory of its own, and the local tensor with its place."""
    match arguments:
        case (
            Global(pair=("torch._utils", "_rebuild_wrapper_subclass")),
            Global(pair=pair),
            (Global(pair=inner), Global(pair=("torch", kind)), size, stride, 0, Made(kind="torch.layout"),
             Made(kind="torch.device"), bool()),
            (None, Container(kind="dict", names=True)) | Container(kind="dict", names=True),
        ) if pair in _DTENSORS and inner == pair and kind in _TYPES:  # fmt: skip
            return Tensor(floating=True) if _counts(size) is not None and _counts(stride) is not None else None
    return None


def _type(arguments: tuple[object, ...]) -> object | None:
    match arguments:
        case (str(code), bool(), bool()) if code in _NUMPY_TYPES:
            return Made("numpy.dtype", int(code[1:]))
    return None


_NUMPY_TYPES = frozenset(["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"])


def _array(arguments: tuple[object, ...]) -> object | None:
    match arguments:
        case (Global(pair=("numpy", "ndarray")), (0,), b"b"):
            return Made("numpy.ndarray")
    return None


def _scalar(arguments: tuple[object, ...]) -> object | None:
    match arguments:
        case (Made(kind="numpy.dtype", size=size), bytes(data)) if len(data) == size:
            return Made("numpy.generic")
    return None


def _is_type_state(state: object) -> bool:
    match state:
        case (3, "<" | ">" | "|", None, None, None, -1, -1, 0):
            return True
    return False


def _is_array_state(state: object) -> bool:
    match state:
        case (1, shape, Made(kind="numpy.dtype", size=size), bool(), bytes(data)):
            sizes = _counts(shape)
            return sizes is not None and len(sizes) <= 32 and math.prod(sizes) * size == len(data)
    return False


def _never(_arguments: tuple[object, ...]) -> NoReturn:
    raise RefusedPickleError("it calls a function that is only allowed as an argument")


_CALLS: dict[Pair, Callable[[tuple[object, ...]], object | None]] = {
    ("collections", "OrderedDict"): _ordered,
    ("collections", "Counter"): _counter,
    ("_codecs", "encode"): _encode,
    ("torch", "Size"): _size,
    ("torch", "device"): _device,
    ("torch.serialization", "_get_layout"): _layout,
    ("torch._utils", "_rebuild_tensor_v2"): _tensor,
    ("torch._utils", "_rebuild_parameter"): _parameter,
    ("torch._utils", "_rebuild_wrapper_subclass"): _never,
    ("torch._tensor", "_rebuild_from_type_v2"): _from_type,
    ("numpy", "dtype"): _type,
    **{(module, "set"): _set for module in ("builtins", "__builtin__")},
    **{(module, "bytearray"): _bytearray for module in ("builtins", "__builtin__")},
    **{(module, "complex"): _complex for module in ("builtins", "__builtin__")},
    **{(f"numpy.{core}.multiarray", "_reconstruct"): _array for core in ("core", "_core")},
    **{(f"numpy.{core}.multiarray", "scalar"): _scalar for core in ("core", "_core")},
}
_CONSTANTS: frozenset[Pair] = frozenset([("numpy", "ndarray")])
