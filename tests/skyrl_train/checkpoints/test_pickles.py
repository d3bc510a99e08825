import io
import struct
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkpoint_files import torch_file
from pickle_maker import made, name, number, text
from skyrl_train.checkpoints import pickles
from skyrl_train.checkpoints.archive import faults, foreign_imports
from skyrl_train.checkpoints.pickles import follow

WHOLE = torch_file(1)
CALL = b"\x80\x02cos\nsystem\nX\x02\x00\x00\x00id\x85R."
HOOKS = name("collections OrderedDict") + b")R"


def zipped(files: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", compression) as archive:
        for path, data in files.items():
            archive.writestr(path, data)
    return written.getvalue()


def two(body: bytes) -> bytes:
    return b"\x80\x02" + body + b"."


def tensor(size: int, *, offset: int = 0, count: int = 100) -> bytes:
    storage = b"(" + text("storage") + name("torch FloatStorage") + text("0") + text("cpu") + number(count) + b"tQ"
    shape = number(size) + b"\x85"
    return (
        name("torch._utils _rebuild_tensor_v2")
        + b"("
        + storage
        + number(offset)
        + shape
        + b"K\x01\x85\x89"
        + HOOKS
        + b"tR"
    )


RUNS_CODE = {
    "a call": CALL,
    "the module that os is": two(name("posix system") + text("id") + b"\x85R"),
    "eval": two(name("builtins eval") + text("1") + b"\x85R"),
    "eval of Python 2": two(name("__builtin__ eval") + text("1") + b"\x85R"),
    "getattr": two(name("builtins getattr") + text("a") + text("b") + b"\x86R"),
    "a dotted name": two(name("torch hub.load") + text("a") + b"\x85R"),
    "a dotted name through an allowed module": two(name("torch._utils torch.load") + text("a") + b"\x85R"),
    "an allowed path divided otherwise": two(name("torch _utils._rebuild_tensor_v2") + b")R"),
    "another function of an allowed module": two(name("torch load") + text("a") + b"\x85R"),
    "a function of torch that loads": two(name("torch.storage _load_from_bytes") + b"U\x01a\x85R"),
    "a function of torch that compiles": two(name("torch.jit load") + text("a") + b"\x85R"),
    "a function of torch that starts programs": two(name("torch.utils.cpp_extension load") + text("a") + b"\x85R"),
    "a pickle in a pickle": two(name("pickle loads") + b"U\x01a\x85R"),
    "a pickle in a pickle of numpy": two(name("numpy load") + text("a") + b"\x85R"),
    "eval of numpy": two(name("numpy.f2py.crackfortran myeval") + text("1") + b"\x85R"),
    "a module of transformers": two(name("transformers.utils.import_utils run") + b")R"),
    "a module of verl": two(name("verl.utils.fs local_mkdir_safe") + text("/tmp/x") + b"\x85R"),
    "functools.partial": two(name("functools partial") + name("os system") + b"\x85R"),
    "a module that begins with an allowed name": two(name("torch._utils_evil run") + b")R"),
    "INST": b"(S'id'\nios\nsystem\n.",
    "OBJ": b"\x80\x02(cos\nsystem\nX\x02\x00\x00\x00ido.",
    "STACK_GLOBAL": b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x02id\x85R.",
    "names from the memo": b"\x80\x04\x8c\x02os\x94\x8c\x06system\x94\x8c\x05torch\x8c\x04load00h\x00h\x01\x93\x8c\x02id\x85R.",
    "NEWOBJ": two(name("subprocess Popen") + text("id") + b"\x85\x81"),
    "NEWOBJ_EX": b"\x80\x04\x8c\x0asubprocess\x8c\x05Popen\x93\x8c\x02id\x85}\x92.",
    "BUILD": two(name("os environ") + b"}b"),
    "an extension": b"\x80\x02\x82\x01).",
    "protocol 0": b"cos\nsystem\n(S'id'\ntR.",
    "protocol 4 in a frame": b"\x80\x04\x95\x14\x00\x00\x00\x00\x00\x00\x00\x8c\x02os\x8c\x06system\x93\x8c\x02id\x85R.",
    "a broken byte after the call": b"cos\nsystem\n(S'id'\ntR\xff",
    "a persistent id of another kind": two(text("module") + name("os system") + b"\x86Q"),
    "a state for a function": two(name("torch._utils _rebuild_tensor_v2") + b"}b"),
    "a second pickle": two(b"N") + CALL,
}


@pytest.mark.parametrize("label", RUNS_CODE)
def test_no_pickle_that_runs_code_passes(label: str) -> None:
    assert foreign_imports(io.BytesIO(zipped({"a/data.pkl": RUNS_CODE[label]})))


REFUSED = {
    "a call of what is not a function": two(text("a") + b")R"),
    "an empty stack": two(b"\x85"),
    "a value that was never stored": two(b"h\x07"),
    "a group without its begin": two(b"t"),
    "an odd number of items": two(b"}(Nu"),
    "an item of a list": two(b"]NNs"),
    "append to a dict": two(b"}Na"),
    "a key that cannot be hashed": two(b"}]Ns"),
    "a set of lists": two(name("builtins set") + b"](]]e\x85R"),
    "memory by a number": two(name("builtins bytearray") + number(1 << 30) + b"\x85R"),
    "an array of objects": two(name("numpy dtype") + text("O8") + b"\x89\x88\x87R"),
    "a tensor larger than its storage": two(tensor(101)),
    "a tensor that begins after its storage": two(tensor(100, offset=1)),
    "a tensor of a negative size": two(tensor(-1)),
    "one storage of two sizes": two(b"](" + tensor(1) + tensor(1, count=99) + b"e"),
    "an unknown dtype": two(name("torch float8_evil")),
}


@pytest.mark.parametrize("label", REFUSED)
def test_what_torch_refuses_is_refused(label: str) -> None:
    followed = follow(REFUSED[label])
    assert followed.problem or followed.foreign


def test_a_tensor_within_its_storage_is_followed() -> None:
    assert follow(two(tensor(100))) == pickles.Followed(storages={"0": 400})


def test_the_size_of_a_record_is_compared() -> None:
    files = {"a/data.pkl": two(tensor(100)), "a/data/0": bytes(400)}
    assert foreign_imports(io.BytesIO(zipped(files))) == ()
    files["a/data/0"] = bytes(396)
    assert foreign_imports(io.BytesIO(zipped(files))) == ("unknown code: its tensor 0 has another size",)


def test_a_long_pickle_is_not_followed_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pickles, "MOST_OPCODES", 10)
    assert follow(two(b"N0" * 20)).problem != ""
    assert follow(two(b"K\x01" * 20)).problem == "it has more than 10 opcodes"


def test_deep_tuples_as_keys_cost_no_time() -> None:
    doubled = b")" + b"q\x00h\x00\x86" * 60
    assert follow(two(b"}" + doubled + b"Ns")).problem == "a key of a dict cannot be hashed"


OTHER_FORMS = {
    "a pickle before the zip": CALL + WHOLE,
    "a bare pickle": CALL,
    "a comment after the directory": WHOLE[:-2] + struct.pack("<H", 4) + b"PK\x05\x06",
    "a second pickle in another case": zipped({"a/data.pkl": two(b"N"), "a/DATA.PKL": CALL}),
    "only a pickle in another case": zipped({"a/Data.pkl": CALL}),
    "a pickle below the root": zipped({"a/b/data.pkl": two(b"N"), "a/version": b"3"}),
    "a pickle without a root": zipped({"data.pkl": two(b"N")}),
    "a pickle in another root": zipped({"b/version": b"3", "a/data.pkl": two(b"N")}),
    "a record of TorchScript": zipped({"a/data.pkl": two(b"N"), "a/constants.pkl": CALL}),
    "a compressed pickle": zipped({"a/data.pkl": two(b"N" * 1000)}, zipfile.ZIP_DEFLATED),
    "a compressed record of much memory": zipped(
        {"a/data.pkl": two(b"N"), "a/data/0": bytes(1 << 24)}, zipfile.ZIP_LZMA
    ),
    "a backslash": zipped({"a/data.pkl": two(b"N"), "a\\data.pkl": CALL}),
    "nothing": b"",
    "an empty zip": zipped({}),
}


@pytest.mark.parametrize("label", OTHER_FORMS)
@pytest.mark.parametrize("deep", [False, True])
def test_only_the_form_of_torch_save_is_followed(label: str, deep: bool) -> None:
    data = OTHER_FORMS[label]
    assert list(faults(io.BytesIO(data), deep=deep))
    assert foreign_imports(io.BytesIO(data))


@given(st.integers(0, 10_000))
def test_every_made_pickle_is_judged(seed: int) -> None:
    follow(made(seed))


@given(st.binary(max_size=200))
def test_no_bytes_crash_it(data: bytes) -> None:
    follow(b"\x80\x02" + data)
