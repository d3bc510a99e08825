import copy
import io
import json
import pickle
import struct
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkpoint_files import torch_file
from skyrl_train.checkpoints import saved
from skyrl_train.checkpoints.archive import faults, foreign_imports
from skyrl_train.checkpoints.safetensors import tensors_faults

WHOLE = torch_file(1)
CUT = "the zip directory at its end is missing: the write was interrupted"


def of(data: bytes, *, deep: bool = False) -> list[str]:
    return list(faults(io.BytesIO(data), deep=deep))


def test_a_whole_file_has_no_fault() -> None:
    assert of(WHOLE) == []
    assert of(WHOLE, deep=True) == []


@given(st.integers(0, len(WHOLE) - 1))
def test_every_cut_is_seen(length: int) -> None:
    assert of(WHOLE[:length]) == [CUT]


def test_zeros_where_the_disk_was_not_reached_are_seen() -> None:
    assert of(bytes(len(WHOLE))) == [CUT]
    assert of(WHOLE[:-200] + bytes(200)) == [CUT]


def test_a_changed_tensor_is_seen_by_reading_all() -> None:
    at = WHOLE.index(b"archive/data/1") + 100
    changed = WHOLE[:at] + bytes([WHOLE[at] ^ 1]) + WHOLE[at + 1 :]
    assert of(changed) == []
    assert of(changed, deep=True) == ["the checksum of archive/data/1 does not match: the file is damaged"]


@given(st.binary(max_size=300), st.integers(0, len(WHOLE)))
def test_no_bytes_crash_it(data: bytes, at: int) -> None:
    of(data)
    of(WHOLE[:at] + data + WHOLE[at:], deep=True)
    foreign_imports(io.BytesIO(WHOLE[:at] + data + WHOLE[at:]))


def zipped(files: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", compression) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return made.getvalue()


def test_other_zips_are_no_torch_file() -> None:
    assert of(zipped({"a/b": b""})) == ["it holds 0 data.pkl; expected one"]
    assert of(zipped({"a/data.pkl": b"x" * 99}, zipfile.ZIP_DEFLATED)) == [
        "a/data.pkl is compressed; expected an uncompressed file of torch.save"
    ]
    assert [fault[:24] for fault in of(zipped({"a/data.pkl": b"no"}))] == ["data.pkl is not a valid "]


def test_a_tensor_that_is_not_there_is_missed() -> None:
    with zipfile.ZipFile(io.BytesIO(torch_file(1, tensors=12))) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/11")}
    assert of(zipped(files)) == ["tensor 11 is missing"]


class Evil:
    def __reduce__(self) -> tuple[object, ...]:
        return (print, ("run",))


def test_what_loading_would_run_is_named_and_not_run(capsys: object) -> None:
    for protocol in (2, 4):
        file = io.BytesIO(zipped({"a/data.pkl": pickle.dumps([Path(), Evil(), {1}], protocol=protocol)}))
        told = foreign_imports(file)
        assert any("print" in name for name in told)
        assert not any("set" in name for name in told)
    assert foreign_imports(io.BytesIO(WHOLE)) == ()


@pytest.mark.parametrize(
    "pickled",
    [
        b"(S'id'\nios\nsystem\n.",  # protocol 0's own word for a call
        b"\x80\x04S'os'\nS'system'\n\x93S'id'\n\x85R.",  # names in protocol 0's texts
        b"\x80\x04U\x02osU\x06system\x93U\x02id\x85R.",
        b"cos\nsystem\n(S'id'\ntR\xff",  # what runs before the load dies
    ],
)
def test_no_spelling_hides_what_loading_would_run(pickled: bytes) -> None:
    assert "os system" in foreign_imports(io.BytesIO(zipped({"a/data.pkl": pickled})))


def test_a_name_that_is_put_together_is_a_stranger() -> None:
    hidden = b"\x80\x04\x8c\x02os\x8c\x06system\x8c\x05torch\x8c\x06Tensor00\x93\x8c\x02id\x85R."
    assert foreign_imports(io.BytesIO(zipped({"a/data.pkl": hidden})))[0] == "a computed name"


def safetensors(length: int) -> bytes:
    header = json.dumps({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, length]}, "__metadata__": {}}).encode()
    return struct.pack("<Q", len(header)) + header


def test_safetensors_are_as_long_as_their_header_says() -> None:
    whole = safetensors(4) + bytes(4)
    assert list(tensors_faults(io.BytesIO(whole), len(whole))) == []
    assert list(tensors_faults(io.BytesIO(whole[:-1]), len(whole) - 1)) == [
        f"it has {len(whole) - 1} bytes; its header describes {len(whole)}"
    ]
    assert list(tensors_faults(io.BytesIO(b""), 0)) == ["its header is longer than the file"]
    assert list(tensors_faults(io.BytesIO(struct.pack("<Q", 2) + b"[]"), 10)) == [
        "its header cannot be read (it does not begin with an object)"
    ]


@given(st.binary(max_size=100))
def test_no_bytes_are_safetensors_by_accident(data: bytes) -> None:
    list(tensors_faults(io.BytesIO(data), len(data)))


def test_records_that_overlap_are_refused() -> None:
    """A megabyte of records could be read for hours."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in {"archive/data.pkl": pickle.dumps({}, protocol=2), "archive/data/0": bytes(4096)}.items():
            archive.writestr(name, data)
        for number in range(1, 100):
            archive.filelist.append(copy.copy(archive.getinfo("archive/data/0")))
            archive.filelist[-1].filename = archive.filelist[-1].orig_filename = f"archive/data/{number}"
    assert of(made.getvalue(), deep=True) == ["its records overlap: reading them would have no end"]
    assert foreign_imports(made) == ("unknown code: its records overlap: reading them would have no end",)


def test_the_queue_of_an_asynchronous_run_is_named_since_nobody_examines_it(tmp_path: Path) -> None:
    """A resume unpickles it."""
    queue = tmp_path / "global_step_3" / "transfer_queue"
    queue.mkdir(parents=True)
    (queue / "controller_state.pkl").write_bytes(b"")
    told = list(saved.foreign_imports(saved.examine(str(tmp_path / "global_step_3"))))
    assert told == [
        "transfer_queue/controller_state.pkl: a resume unpickles it (TransferQueue), and it is not examined"
    ]
